/** What happens to the bytes of a request body. */
export const BODY_USE = { held: 0, gathered: 1, forwarded: 2, collected: 3, discarded: 4 } as const
