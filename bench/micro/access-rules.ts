/** What one decision by access rules costs, with 1,000 paths: `node bench/micro/access-rules.ts`. */
import { compileAccess } from '../../shared/enforcement/access-rules.ts'
import type { AccessRule } from '../../shared/fleet/access-rules.ts'

const PATHS = 1000
const ROUNDS = 200_000
const rules = Array.from({ length: PATHS }, (_, at): AccessRule => {
  const path = at % 2 === 0 ? `/team${at}/reports` : `/api/v1/thing${at}`
  return { path, allow: [{ group: 'finance', strength: 'mfa' }, { group: 'admins' }] }
})
const slots = ['admins', 'finance'].map((group, slot) => ({ slot, since: 1, group }))
const everybody: AccessRule = { path: '/', allow: [{ signed_in: true }] }
const judge = compileAccess({ rules: [everybody, ...rules], slots }, () => false)
const who = {
  clientAddress: '203.0.113.1',
  nowSeconds: 10_000,
  authTime: 9_900,
  isStrong: true,
  groupBits: Uint8Array.of(0b10),
  groupsVersion: 1,
}
const KINDS: Readonly<Record<string, (at: number) => string>> = {
  plain: (at) => `/team${at - (at % 2)}/reports/2026/${at}`,
  'with a file name': (at) => `/api/v1/thing${at | 1}/invoice.pdf`,
  'with escapes': (at) => `/team${at - (at % 2)}/reports/caf%C3%A9%20${at}`,
  'without a rule of its own': (at) => `/elsewhere/${at}/page`,
}

for (const [name, pathOf] of Object.entries(KINDS)) {
  const paths = Array.from({ length: PATHS }, (_, at) => pathOf(at))
  const times = new Float64Array(ROUNDS)
  let allowed = 0
  for (let round = -20_000; round < ROUNDS; round++) {
    const asked = {
      host: 'app.example.com',
      method: 'GET',
      path: paths[(round + PATHS * 20) % PATHS]!,
    }
    const before = process.hrtime.bigint()
    const verdict = judge.judge(asked, who)
    const took = Number(process.hrtime.bigint() - before)
    if (round >= 0) times[round] = took
    if (verdict.kind === 'allowed') allowed++
  }
  times.sort()
  const at = (share: number) => (times[Math.floor(ROUNDS * share)]! / 1000).toFixed(2)
  console.log(
    `${name}: p50 ${at(0.5)} µs, p99 ${at(0.99)} µs, p99.9 ${at(0.999)} µs, ${allowed} allowed`,
  )
}
