/** Calls that the CLI denied by itself, which only the closing frame tells. */
import type { AgyResult } from './wire.ts'

/** The denied action that the CLI names, and the tools that it stands for (agy 1.3.1, recordings of 2026-10). */
const ACTION_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['command', ['run_command', 'send_command_input']],
  ['unsandboxed', ['run_command']],
  ['mcp', ['call_mcp_tool']],
  ['read_url', ['read_url_content']],
  ['execute_url', ['open_browser_url', 'execute_browser_javascript']],
])

/** Whether the result says that the call before it, which looked finished, was in truth denied. */
export function deniesCall(result: AgyResult, tool: string): boolean {
  if (result.deniedActions.length === 0) return result.status === 'CANCELED'
  return result.deniedActions.some(action => ACTION_TOOLS.get(action)?.includes(tool) ?? true)
}
