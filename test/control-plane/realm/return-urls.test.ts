import t from 'tap'
import { authorizeAgainUrl } from '../../../control-plane/realm/return-urls.ts'

const realm = { issuer: 'https://id.example/auth/realms/acme' }
const login = { accountId: 'ada', ts: 1000 }

t.test('who asks for a fresh sign-in gets one that is younger than the question', (t) => {
  const params = { prompt: 'login', max_age: '60', state: 's' }
  const again = (signedInAt: number | undefined, answer: object = {}) => {
    const url = authorizeAgainUrl(realm, { params, iat: 1000, ...answer }, signedInAt)
    const { searchParams } = new URL(url)
    t.equal(searchParams.get('state'), 's')
    return searchParams.get('prompt')
  }
  t.equal(again(undefined), 'login')
  t.equal(again(999), 'login')
  t.equal(again(1000), 'login', 'in the same second, and not by answering this question')
  t.equal(again(1000, { result: { login } }), null, 'its own page was answered')
  t.equal(again(1001), null)
  t.end()
})
