import t from 'tap'
import {
  CODE_SECONDS,
  sessionEnd,
  tokenExpiresAt,
} from '../../../control-plane/realm/session-life.ts'

const rules = { maxSessionSeconds: 100, idleSeconds: 10 }

t.test('the first token has the whole length, also where a length is a single second', (t) => {
  t.equal(tokenExpiresAt(1000, { signedInAt: 999 }, rules), 1100)
  t.equal(tokenExpiresAt(1000, { signedInAt: 999 }, { ...rules, maxSessionSeconds: 1 }), 1001)
  t.end()
})

t.test('a renewed token ends when the first one does', (t) => {
  t.equal(tokenExpiresAt(1050, { signedInAt: 999, startedAt: 1000 }, rules), 1100)
  t.equal(tokenExpiresAt(1099, { signedInAt: 999, startedAt: 1000 }, rules), 1100)
  t.end()
})

t.test('a code that waits does not stretch the session by more than its own life', (t) => {
  t.equal(tokenExpiresAt(1090, { signedInAt: 1000 }, rules), 1100 + CODE_SECONDS)
  t.end()
})

t.test('a session is continued without asking until it is too old, idle or ended', (t) => {
  t.equal(sessionEnd(1009, { signedInAt: 1000 }, rules), undefined)
  t.equal(sessionEnd(1010, { signedInAt: 1000 }, rules), undefined)
  t.equal(sessionEnd(1011, { signedInAt: 1000 }, rules), 'idle')
  t.equal(sessionEnd(1011, { signedInAt: 1000, lastSeenAt: 1005 }, rules), undefined)
  t.equal(sessionEnd(1099, { signedInAt: 1000, lastSeenAt: 1095 }, rules), undefined)
  t.equal(sessionEnd(1100, { signedInAt: 1000, lastSeenAt: 1095 }, rules), 'too_old')
  t.equal(sessionEnd(1001, { signedInAt: 1000, isEnded: true }, rules), 'ended')
  t.end()
})
