/** A hostname is asked before an authority is, and leads nobody into our own network. */
import { createServer } from 'node:http'
import t from 'tap'
import { createPreflight } from '../../../control-plane/acme/preflight.ts'
import { createReceiverAddresses } from '../../../control-plane/outbound/public-address.ts'
import { challengeAnswer } from '../../../shared/acme-challenge.ts'
import { listen } from '../../support/own-guard.ts'

const thumbprint = 'x'.repeat(43)
const NAME = 'shop.example.com'

t.test('where it leads is asked, if that is a place to go', async (t) => {
  const asked: string[] = []
  let isRight = true
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`)
    response.end(isRight ? challengeAnswer(request.url ?? '', thumbprint) : 'something else')
  })
  const port = await listen(t, server)
  const preflight = (allowPrivate: string[], found: string[]) => {
    const addresses = createReceiverAddresses({ allowPrivate, resolve: async () => found })
    const { signal } = new AbortController()
    const made = createPreflight({ thumbprint, signal, port, addresses })
    t.teardown(() => made.close())
    return made.find(NAME)
  }
  const opened = ['127.0.0.0/8']
  t.equal(await preflight(opened, ['127.0.0.1']), undefined)
  t.match(asked, [new RegExp(`^${NAME}:${port} /.well-known/acme-challenge/[\\w-]{43}$`)])
  isRight = false
  t.match(await preflight(opened, ['127.0.0.1']), /not answered by the gateways \(status 200\)/)
  asked.length = 0
  for (const inside of [['127.0.0.1'], ['203.0.113.1', '127.0.0.1'], ['169.254.169.254'], ['::1']])
    t.match(await preflight([], inside), /a network that is not public/, inside.join())
  t.match(await preflight([], []), /the name does not resolve/)
  t.strictSame(asked, [])
})
