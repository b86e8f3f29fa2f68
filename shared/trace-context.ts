/** W3C Trace Context, as it comes in: whose trace a request says it belongs to. */

/** Version 00 has exactly these fields. */
const VERSION_0 = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
/** A later version may have more behind another dash; ff is none. */
const LATER_VERSION =
  /^(?!00|ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{1,128})?$/
export const TRACEPARENT_CHARACTERS = 55

export function isTraceparent(text: string): boolean {
  return text.length === TRACEPARENT_CHARACTERS && text.startsWith('00')
    ? VERSION_0.test(text)
    : LATER_VERSION.test(text)
}

/** The 32 hexadecimal digits by which a trace is found in other systems. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** And the 16 of the span that it was handed on by. */
export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52)
