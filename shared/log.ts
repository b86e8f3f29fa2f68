/** One JSON line per event, or a readable one at a terminal. Secrets stay out by rule and by net. */
import type { LogFn, Logger, LoggerOptions } from 'pino'

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

/** How lines look to people. */
export const TERMINAL_LINES = {
  ignore: 'pid,hostname,program,kind',
  messageFormat: '{program} · {msg}',
}

export function logOptions(program: string, isTerminal: boolean): LoggerOptions {
  return {
    base: { program },
    level: 'info',
    redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`]), censor: '[hidden]' },
    ...(isTerminal
      ? {
          transport: {
            target: 'pino-pretty',
            options: TERMINAL_LINES,
          },
        }
      : {}),
    errorKey: 'error',
    // libraries say `err`; none of our lines does (test/tidy/log-fields.test.ts)
    serializers: { error: describeError, err: describeError },
    hooks: { logMethod: withoutOwnWords },
  }
}

/** An error that is logged by itself would lend its message to the line. */
function withoutOwnWords(this: Logger, given: Parameters<LogFn>, method: LogFn) {
  const [first] = given as unknown[]
  if (first instanceof Error && given.length === 1) method.call(this, { error: first }, 'error')
  else method.apply(this, given)
}

/**
 * Name, code, message and place; never the fields that a library hangs on its errors, nor what a
 * query was run with: passwords' hashes, tokens and sealed secrets are among it. The stack repeats
 * the message, so only its frames are kept.
 */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, stack, cause } = error
  const code = (error as { code?: unknown }).code
  const reason = cause instanceof Error ? `${cause.name}: ${messageOf(cause)}` : undefined
  return { name, code, message: messageOf(error), cause: reason, stack: framesOf(stack) }
}

const MESSAGE_CHARACTERS_MAX = 500

/** A query library tells what it asked and with what; a database may repeat the row it refused. */
function messageOf({ message }: Error): string {
  const [first = ''] = message.split('\n')
  if (/^failed query\b/i.test(first)) return 'Failed query'
  return message.slice(0, MESSAGE_CHARACTERS_MAX)
}

function framesOf(stack = ''): string {
  const lines = stack.split('\n')
  return lines.filter((line) => /^\s+at /.test(line)).join('\n')
}
