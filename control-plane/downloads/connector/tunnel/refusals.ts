/** Why a gateway ends a connection, for people. What a later one says besides is told as it is. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['unknown', 'the gateway does not know this connector: it may have been revoked'],
  ['revoked', 'this connector was revoked'],
  ['version', 'the gateway speaks another version: update this connector'],
  ['many', 'the tenant has too many connectors at this gateway'],
])

export const refusalText = (reason: string): string => REFUSALS.get(reason) ?? `refused: ${reason}`
