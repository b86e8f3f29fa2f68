/** Who is on the way back after a proof is known by one cookie, whatever else a request shows. */
import { hash } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import {
  createProvenAttempts,
  noteProven,
} from '../../../control-plane/realm/sign-in/proven-attempts.ts'
import { LIMITS } from '../../../shared/limits.ts'

const NAME = 'realm_acme_attempt_aaaaaaaaaaaa'
const [NOW_MS, VALUE] = [1_800_000_000_000, 'x'.repeat(50)]

function start() {
  const clock = { ms: NOW_MS, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const counts = { digests: 0 }
  const proven = createProvenAttempts(clock, (text) => {
    counts.digests++
    return hash('sha256', text, 'base64')
  })
  const requestWith = (cookie?: string) => {
    const request = new IncomingMessage(new Socket())
    if (cookie !== undefined) request.headers.cookie = cookie
    return request
  }
  const prove = (name: string, value: string) => {
    const request = requestWith()
    proven.watch(request)
    noteProven(request, name, value)
  }
  return {
    clock,
    counts,
    prove,
    shows: (cookie?: string) => proven.isShown(requestWith(cookie), NAME),
  }
}

void t.test('of the cookies that a request shows one is looked at', async (t) => {
  const { counts, prove, shows } = start()
  prove(NAME, VALUE)
  counts.digests = 0
  const most = 16 * 1024 // what Node’s parser takes
  t.notOk(shows('_attempt_;'.repeat(most / 10)))
  t.notOk(shows(`${NAME};`.repeat(most / 32)))
  t.notOk(shows('realm_acme_attempt_bbbbbbbbbbbb=x; '.repeat(most / 36)))
  t.notOk(shows(`${NAME}=x; `.repeat(most / 36)), 'nor of many that say they are it')
  t.notOk(shows())
  t.equal(counts.digests, 0)
  t.notOk(shows(`${NAME}=x`))
  t.ok(shows(`other=1; ${NAME}=${VALUE}; another=2`))
  t.equal(counts.digests, 2)
})

void t.test('it is known for a while, and by its name as well', async (t) => {
  const { clock, prove, shows } = start()
  prove('realm_bolt_attempt_aaaaaaaaaaaa', VALUE)
  t.notOk(shows(`${NAME}=${VALUE}`), 'another tenant’s')
  prove(NAME, VALUE)
  clock.ms += LIMITS.knownCredentialMsMax
  t.ok(shows(`${NAME}=${VALUE}`))
  clock.ms += 1
  t.notOk(shows(`${NAME}=${VALUE}`))
  clock.ms -= LIMITS.knownCredentialMsMax
  t.notOk(shows(`${NAME}=${VALUE}`), 'what has expired is gone')
})
