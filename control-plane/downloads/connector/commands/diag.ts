/** What is at fault, of all that lies between the application and the gateways. */
import { visibleJson, visibleText } from '../../command-line/words.ts'
import { atFault, diagnose, isSpared } from '../diagnosis/diagnose.ts'
import type { Finding } from '../diagnosis/finding.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { findLocalPort } from '../local/port.ts'
import { createService } from '../service/service.ts'
import { baseUrlOf, readBaseUrl, type Environment } from '../../command-line/base-url.ts'
import { newestOf } from '../systemd/running-state.ts'
import type { Command } from './command.ts'

export const diag: Command = {
  name: 'diag',
  summary: 'Checks every part of the connection, and says what is wrong.',
  about:
    'It checks the state folder, the control plane (name, port, proxy, TLS, clock), the key, each gateway and the application. It changes nothing and takes no request. Exit codes: 0 everything works, 1 something does not.',
  options: ['local-port', 'json'],
  actions: [],
  async run({ given, world, state, proxies, print }) {
    const { environment, nowMs } = world
    const read = async () => {
      const joined = await state.read()
      return joined === null ? null : newestOf(joined, world.userId)
    }
    const findings = await diagnose({
      state: { ...state, read },
      baseUrlFor: (joined) =>
        joined === null ? known(environment) : baseUrlOf(environment, joined.base_url),
      serviceAt: (baseUrl) => createService({ baseUrl, proxies }),
      proxies,
      localPortOf: (joined) =>
        findLocalPort(given.options.get('local-port'), { state, joined, userId: world.userId }),
      nowMs,
    })
    const fault = atFault(findings)
    const document = { at_fault: fault ?? null, findings }
    print(
      given.options.has('json')
        ? visibleJson(JSON.stringify(document, undefined, 2))
        : textOf(findings, fault),
    )
    return fault === undefined ? EXIT.done : EXIT.notSo
  },
}

function known(environment: Environment): string | Problem {
  try {
    return readBaseUrl(environment).text
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

const MARKS = { ok: 'ok', failed: 'FAILED', skipped: 'skipped', note: 'note' } as const

function textOf(findings: readonly Finding[], fault: Finding | undefined): string {
  const lines = findings.flatMap(({ result, name, detail, advice }) => [
    `${MARKS[result].padEnd(8)}${visibleText(name)}: ${visibleText(detail)}`,
    ...(advice === '' ? [] : [`${' '.repeat(8)}${visibleText(advice)}`]),
  ])
  return [...lines, '', ...verdict(findings, fault)].join('\n')
}

function verdict(findings: readonly Finding[], fault: Finding | undefined): string[] {
  if (fault === undefined) return ['Nothing is at fault.']
  const { name, detail, advice } = fault
  const said = [`At fault: ${visibleText(name)}`, `  ${visibleText(detail)}`]
  const goesOn = isSpared(fault, findings)
    ? ['  Requests go on meanwhile: a gateway works, and so does the application.']
    : []
  return [...said, ...(advice === '' ? [] : [`  ${visibleText(advice)}`]), ...goesOn]
}
