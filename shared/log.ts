/** One JSON line per event, or a readable one at a terminal. Secrets stay out by rule and by net. */
import type { LoggerOptions } from 'pino'

/** A net under the rule that nobody logs these: whatever carries such a name is blanked. */
const SECRET_NAMES = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'client_secret',
  'analyzer_key',
  'api_key',
] as const

export function logOptions(program: string, isTerminal: boolean): LoggerOptions {
  return {
    base: { program },
    level: 'info',
    redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`]), censor: '[hidden]' },
    ...(isTerminal
      ? {
          transport: {
            target: 'pino-pretty',
            options: { ignore: 'pid,hostname,program,kind', messageFormat: `${program} · {msg}` },
          },
        }
      : {}),
    serializers: { error: describeError, err: describeError },
  }
}

/** Name, code, message and place; never the fields that a library hangs on its errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const code = (error as { code?: unknown }).code
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined
  return { name, code, message, cause: reason, stack }
}
