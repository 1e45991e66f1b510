/**
 * The loopback server that the hook program of one run asks.
 *
 * It answers nobody but a holder of the run's token, on one method and path, and whatever else comes is a denial in words. The
 * token reaches the commands that the model runs as well, by their environment, so it is bound to one run and proves little: a
 * call that was made up can only be denied, or use up the step that it names.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deny, type HookAnswer, type HookAsk, parseAsk } from './ask.ts'

/** Largest input of the hook, in bytes: it holds whole files that the model writes. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** Time for the whole input to arrive, in milliseconds: it comes from the same machine. */
const BODY_LIMIT_MS = 30_000

const HOST = '127.0.0.1'
const PATH = '/decide'

/**
 * Decides on one call.
 *
 * @param gone - aborted when the one who asks is gone.
 */
export type Decide = (ask: HookAsk, gone: AbortSignal) => Promise<HookAnswer>

/** A request that is refused before anybody is asked. */
interface Refused {
  readonly status: number
  readonly reason: string
}

/** Serves one run. */
export class HookServer {
  readonly url: string
  /** 256 random bits. */
  readonly token: string
  private readonly server: Server

  private constructor(server: Server, token: string) {
    const { port } = server.address() as AddressInfo
    this.server = server
    this.token = token
    this.url = `http://${HOST}:${port}${PATH}`
  }

  /** Listen on a port of the system's choice. */
  static async open(decide: Decide): Promise<HookServer> {
    const token = randomBytes(32).toString('hex')
    // Loaded for who needs it: dsh's start does not wait for it.
    const { createServer } = await import('node:http')
    const server = createServer({ requestTimeout: BODY_LIMIT_MS, connectionsCheckingInterval: 1_000 })
    server.on('request', (request, response) => void serve(request, response, token, decide))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, HOST, resolve)
    })
    // It keeps no process alive: the run that it serves does.
    server.unref()
    return new HookServer(server, token)
  }

  /** Whether the port is still ours. */
  get isListening(): boolean {
    return this.server.listening
  }

  /** Serve nobody any more. */
  async close(): Promise<void> {
    await new Promise<void>(resolve => {
      this.server.close(() => resolve())
      this.server.closeAllConnections()
    })
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, token: string, decide: Decide): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  try {
    const refused = refusalOf(request, token)
    if (refused !== undefined) {
      answer(response, refused.status, deny(refused.reason))
      return
    }
    const body = await bodyOf(request)
    if (typeof body !== 'string') {
      answer(response, body.status, deny(body.reason))
      return
    }
    const ask = parseAsk(body)
    if ('problem' in ask) answer(response, 400, deny(`What the CLI sent cannot be read: ${ask.problem}.`))
    else answer(response, 200, await decide(ask, gone.signal))
  } catch (error) {
    answer(response, 500, deny(`The host failed: ${error instanceof Error ? error.message : String(error)}`))
  }
}

function refusalOf({ method, url, headers }: IncomingMessage, token: string): Refused | undefined {
  if (!isToken(headers.authorization, token)) return { status: 401, reason: 'This run knows no such token.' }
  if (method !== 'POST') return { status: 405, reason: 'Only POST is answered.' }
  if (url !== PATH) return { status: 404, reason: 'There is nothing at this path.' }
  // A page in a browser could reach the port under another name, and says where it comes from.
  if (headers.host?.replace(/:\d+$/, '') !== HOST)
    return { status: 403, reason: 'Only the loopback address is served.' }
  if (headers.origin !== undefined) return { status: 403, reason: 'No page of a browser is served.' }
  return undefined
}

/** Digests have one length, so the time that the comparison takes says nothing. */
function isToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`))
}

async function bodyOf(request: IncomingMessage): Promise<string | Refused> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // What is too much is read to its end, so that the one who sends it hears the answer; it is not kept.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
    else chunks.length = 0
  }
  if (size > MAX_BODY_BYTES) return { status: 413, reason: `The call is larger than ${MAX_BODY_BYTES} bytes.` }
  return Buffer.concat(chunks).toString('utf8')
}

function answer(response: ServerResponse, status: number, word: HookAnswer): void {
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(word))
}
