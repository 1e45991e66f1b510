/** The provider whose steps the engine drives. */
export const PROVIDER = 'agy'
