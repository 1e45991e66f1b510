/** The host's store of images, where one is mounted. */
import type { Context } from '@deepseek-ai/cordis'

/** The part of the store that is read (as of @deepseek-ai/dsh-attachment 0.1.0-rc.8). */
interface ImageStore {
  readImage(ref: unknown): Promise<{ readonly data: Uint8Array }>
}

/** Reads the bytes of an image reference as it stands in a message; rejects where the host keeps no images. */
export function imageReader(ctx: Context): (ref: unknown) => Promise<Uint8Array> {
  return async ref => {
    const store = ctx.get('attachments') as ImageStore | undefined
    if (store === undefined) throw new Error('this dsh keeps no images')
    return (await store.readImage(ref)).data
  }
}
