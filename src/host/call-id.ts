/** The brand of a call's id: `CallId` in the first generation, `ToolCallId` in the later one (`packages/llm/llm/src/brand.ts`). */
import type { CallId } from '@deepseek-ai/dsh-llm'
import { type HostApi, INSTALLED } from './generation.ts'

/**
 * Brand the id of a call.
 *
 * @param id - as the engine told it.
 */
export function callId(id: string, { llm }: HostApi = INSTALLED): CallId {
  const brand = (llm.CallId ?? llm.ToolCallId) as (id: string) => CallId
  return brand(id)
}
