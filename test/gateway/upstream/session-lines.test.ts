/** The lines of a session are kept from one request to the next, and never for longer than they are true. */
import t from 'tap'
import { SessionLines } from '../../../gateway/upstream/forwarding-lines.ts'
import type { AccessJudge } from '../../../shared/enforcement/access-rules.ts'
import { LIMITS } from '../../../shared/limits.ts'

const CLAIMS = {
  ...{ sub: 'ada', sid: 's', iat: 0, exp: 1, nbf: 0, authTime: 0, acr: '', amr: [], email: '' },
  name: '',
}
const CLIENT = {
  ...{ clientAddress: '203.0.113.1', addressChain: '', protocol: 'https' as const },
  ...{ requestId: 'r', traceparent: '00-t', tracestate: '' },
}
const naming = (...groups: string[]) => ({ groupsOf: () => groups }) as unknown as AccessJudge
const LONG = `x=${'y'.repeat(LIMITS.rememberedCookiesMax)}`

t.test('who is in which group is said by the rules of now, whatever came between', async (t) => {
  const lines = new SessionLines('token', CLAIMS)
  const groupsUnder = (access: AccessJudge | undefined, cookies: string) =>
    /X-Service-Groups: (.*)\r\n/.exec(lines.forwarding('app', cookies, CLIENT, access))?.[1]
  const [before, now] = [naming('finance'), naming('staff')]
  t.equal(groupsUnder(before, 'a=1'), 'finance')
  t.equal(groupsUnder(now, LONG), 'staff')
  t.equal(groupsUnder(now, 'a=1'), 'staff', 'what was kept is of the rules before')
  t.equal(groupsUnder(now, 'a=1'), 'staff')
  t.equal(groupsUnder(undefined, LONG), undefined)
  t.equal(groupsUnder(undefined, 'a=1'), undefined)
  t.equal(groupsUnder(before, 'a=1'), 'finance')
})
