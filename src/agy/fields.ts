/** JSON of which nothing is promised: what is no object has no members. */

/** An object of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether the value is an object, and no list. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value as an object; anything else is one without members. */
export const fields = (value: unknown): Fields => (isFields(value) ? value : {})
