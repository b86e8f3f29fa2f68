/** HTTP-01, as a certificate authority and as strangers ask for it. */
import t from 'tap'
import { getGlobalDispatcher } from 'undici'
import { HOST, startEdge } from '../../support/edge-world.ts'

const THUMBPRINT = 'T'.repeat(43)
const PATH = '/.well-known/acme-challenge/'
const TOKEN = 'LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0'
/** Of nobody. */
const ORIGIN = 'http://127.0.0.1:9'

async function startAsked(t: Parameters<typeof startEdge>[0], hostnames = [HOST]) {
  const acme = { thumbprint: THUMBPRINT, hostnames }
  const edge = await startEdge(t, ORIGIN, { acme, protection: 'on', excluded: [] })
  const ask = async (path: string, method: 'GET' | 'POST' | 'HEAD' = 'GET', host = HOST) => {
    const asked = { origin: `http://127.0.0.1:${edge.port}`, path, method, headers: { host } }
    const { statusCode, headers, body } = await getGlobalDispatcher().request(asked)
    return { status: statusCode, headers, text: await body.text() }
  }
  return { edge, ask }
}

void t.test('any token is answered for a host whose certificate is ordered', async (t) => {
  const { edge, ask } = await startAsked(t)
  for (const token of [TOKEN, 'a', 'a'.repeat(128)]) {
    const { status, headers, text } = await ask(PATH + token)
    t.match({ status, text }, { status: 200, text: `${token}.${THUMBPRINT}` })
    t.match(headers, {
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-request-id': String,
    })
  }
  edge.put({ status: 'suspended' })
  t.equal((await ask(PATH + TOKEN)).status, 200, 'a suspended tenant keeps its certificate')
})

void t.test('nothing else is answered there', async (t) => {
  const { ask } = await startAsked(t)
  for (const path of [
    PATH,
    PATH + 'a'.repeat(129),
    `${PATH}${TOKEN}/`,
    `${PATH}${TOKEN}/more`,
    `${PATH}${TOKEN}?a`,
    `${PATH}a.b`,
    `${PATH}%61`,
    `${PATH}<script>`,
    `/.well-known//acme-challenge/${TOKEN}`,
    `/.WELL-KNOWN/acme-challenge/${TOKEN}`,
    `/x/..${PATH}${TOKEN}`,
  ]) {
    const { status, text } = await ask(path)
    t.not(status, 200, path)
    t.notMatch(text, THUMBPRINT, path)
  }
  t.not((await ask(PATH + TOKEN, 'POST')).status, 200)
  t.not((await ask(PATH + TOKEN, 'HEAD')).status, 200)
  t.equal((await ask(PATH + TOKEN, 'GET', 'other.localhost')).status, 404, 'nobody’s host')
})

void t.test('where none is ordered, the application may ask for its own', async (t) => {
  const { edge, ask } = await startAsked(t, ['other.localhost'])
  t.not((await ask(PATH + TOKEN)).status, 200)
  edge.put({ acme: undefined })
  t.not((await ask(PATH + TOKEN)).status, 200)
})
