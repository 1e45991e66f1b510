/** The host's model vocabulary that the engine room speaks. */
export type { GenerateOptions, LlmModelInfo, LlmResolvedModelInfo, StreamChunk } from '@deepseek-ai/dsh-llm'
export { LlmAdapter, LlmError, ReasoningEffortId } from '@deepseek-ai/dsh-llm'
