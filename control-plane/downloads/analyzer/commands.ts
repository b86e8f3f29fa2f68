/** What the program can be asked to do, and how it tells what came of it. */
import type { Reply } from './api.ts'
import { plainText, wrap, wrapUnder } from './words.ts'

export const EXIT = { done: 0, notSo: 1, misused: 2, unavailable: 3 } as const

export interface Outcome {
  readonly text: string
  readonly exit: number
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  describe(reply: Reply, place: Place): Outcome
}

interface Place {
  readonly baseUrl: string
  readonly columns: number
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'verify',
    summary: 'shows what the checks have found so far',
    method: 'GET',
    path: '/api/v1/verify/status',
    describe: describeChecks,
  },
  {
    name: 'probe',
    summary: 'has the service look at your application now, and shows what it finds',
    method: 'POST',
    path: '/api/v1/verify/probe',
    describe: describeChecks,
  },
  {
    name: 'go-live',
    summary: 'turns protection on: every request goes through sign-in',
    method: 'POST',
    path: '/api/v1/go-live',
    describe: describeProtection,
  },
  {
    name: 'go-back',
    summary: 'turns protection off again; never refused',
    method: 'POST',
    path: '/api/v1/go-back',
    describe: describeProtection,
  },
]

interface Check {
  readonly check: string
  readonly status: string
  readonly detail: string
  readonly nextAction: string
  readonly isSelfReport: boolean
}

function describeChecks(reply: Reply, place: Place): Outcome {
  if (reply.status === 409) return describeRefusal(reply, place)
  const { body } = reply
  const checks = (Array.isArray(body['checks']) ? body['checks'] : []).map(readCheck)
  const failed = checks.filter(({ status }) => status === 'fail')
  const isPassed = body['status'] === 'pass'
  const next =
    checks.length === 0
      ? 'No check has run yet. Run: service-analyzer probe'
      : failed.length > 0
        ? `${failed.length} of ${checks.length} checks fail. Put the first one right, then run: service-analyzer probe`
        : isPassed
          ? 'Nothing fails.'
          : 'No check could run yet. Run: service-analyzer probe'
  const lines = [
    `Verification: ${plainText(body['status'])} (${place.baseUrl})`,
    '',
    ...checks.map((check) => describeCheck(check, place.columns)),
    ...(checks.length === 0 ? [] : ['']),
    wrap(next, place.columns),
  ]
  return { text: lines.join('\n'), exit: isPassed ? EXIT.done : EXIT.notSo }
}

function readCheck(sent: unknown): Check {
  const { check, status, detail, next_action, source } = (sent ?? {}) as Record<string, unknown>
  return {
    check: plainText(check),
    status: plainText(status),
    detail: plainText(detail),
    nextAction: plainText(next_action),
    isSelfReport: source === 'self_report',
  }
}

const INDENT = ' '.repeat(8)

function describeCheck(check: Check, columns: number): string {
  const { status, detail, nextAction, isSelfReport } = check
  const mark = status === 'fail' ? 'FAIL' : status
  const source = isSelfReport ? ' (self-report)' : ''
  const lines = [`  ${mark.padEnd(6)}${check.check}${source}`]
  if (detail !== '') lines.push(wrapUnder(INDENT, INDENT, detail, columns))
  if (nextAction !== '' && status !== 'pass')
    lines.push(wrapUnder(`${INDENT}> `, `${INDENT}  `, nextAction, columns))
  return lines.join('\n')
}

function describeProtection(reply: Reply, place: Place): Outcome {
  if (reply.status === 409) return describeRefusal(reply, place)
  const { tenant_id, protection, at } = reply.body
  const since = `of ${plainText(tenant_id)} since ${plainText(at)}`
  const text =
    protection === 'on'
      ? `Protection is on ${since}: every request goes through sign-in. To go back: service-analyzer go-back`
      : `Protection is off ${since}: every request passes through. To go live: service-analyzer go-live`
  return { text: wrap(text, place.columns), exit: EXIT.done }
}

function describeRefusal({ body }: Reply, { columns }: Place): Outcome {
  const missing = (Array.isArray(body['missing']) ? body['missing'] : []).map(plainText)
  const lines = [
    `Refused: ${plainText(body['detail'])}`,
    ...(missing.length === 0
      ? []
      : [`Missing: ${missing.join(', ')}.`, 'To see what to do: service-analyzer probe']),
  ]
  return { text: lines.map((line) => wrap(line, columns)).join('\n'), exit: EXIT.notSo }
}
