/** JSON of which nothing is promised: what is no object has no members. */

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const fields = (value: unknown): Fields => (isFields(value) ? value : {})
