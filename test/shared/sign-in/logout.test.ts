import t from 'tap'
import { logout } from '../../../shared/sign-in/logout.ts'

t.test('nobody is told to be signed out where nothing was ended', async (t) => {
  const visit = {
    head: { method: 'POST', secFetchSite: 'same-origin' },
    tenant: { tenantId: 'app', name: 'App' },
    cookies: 'service_session=a; service_session=b',
    edgeUrl: 'https://app.example.com',
    isCookieSecure: true,
    header: () => [],
  }
  const world = {
    sessions: { allOf: () => [] },
    relyingParty: { endSessionLocation: () => Promise.reject(new Error('not reached')) },
    log: { warn() {} },
  }
  const answer = await logout(visit as never, world as never)
  t.equal(answer.status, 503)
  t.match(String(answer.body), 'sign_out_incomplete')
  t.notMatch(answer.headerLines.join(), 'Set-Cookie', 'the next try finds the cookies')
})
