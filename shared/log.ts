/** One JSON line per event, or a readable one at a terminal. Secrets stay out by rule and by net. */
import { levels, type LogFn, type Logger, type LoggerOptions } from 'pino'

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
const SECRET = new Set<string>(SECRET_NAMES)

/** Of what a child logger is bound to, which no formatter sees. */
const HIDING = Object.fromEntries(SECRET_NAMES.map((name) => [name, () => '[hidden]']))

/** How lines look to people. */
export const TERMINAL_LINES = {
  ignore: 'pid,hostname,program,kind',
  messageFormat: '{program} · {msg}',
}

/** From the fewest lines to the most (docs/logs.md). */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Which lines are written. It may change at any time: children of a logger keep a level of their own. */
export interface LogThreshold {
  level: LogLevel
}

export function logOptions(
  program: string,
  isTerminal: boolean,
  threshold: LogThreshold = { level: 'info' },
): LoggerOptions {
  return {
    base: { program },
    level: 'debug',
    formatters: { log: withoutSecrets },
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
    serializers: { ...HIDING, error: describeError, err: describeError },
    hooks: {
      logMethod(given, method, level) {
        if (level >= levels.values[threshold.level]!) withoutOwnWords.call(this, given, method)
      },
    },
  }
}

/**
 * Of the line and of what its fields hold. Pino's own way takes every line apart and puts it together
 * again for each name, which is most of what a line costs.
 */
function withoutSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  let shown = fields
  for (const [name, value] of Object.entries(fields)) {
    const its = SECRET.has(name) ? '[hidden]' : withoutNamed(value)
    if (its === value) continue
    if (shown === fields) shown = { ...fields }
    shown[name] = its
  }
  return shown
}

function withoutNamed(value: unknown): unknown {
  // Of an error only what `describeError` takes is written, wherever it stands.
  if (value instanceof Error) return describeError(value)
  if (typeof value !== 'object' || value === null) return value
  const secrets = Object.keys(value).filter((name) => SECRET.has(name))
  if (secrets.length === 0) return value
  return { ...value, ...Object.fromEntries(secrets.map((name) => [name, '[hidden]'])) }
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
