/** Who a request of the public listener is from: its peer, or whom the operator's balancers name. */
import { connect } from 'node:net'
import t from 'tap'
import { addressOf } from '../../../control-plane/listener/client-address.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { REALM, startListener } from './served.ts'

const get = (headers = '') =>
  `GET ${REALM} HTTP/1.1\r\nHost: a\r\n${headers}Connection: close\r\n\r\n`
const seen = (answer: string) => answer.split('\r\n\r\n')[1]

const telling = (t: Parameters<typeof startListener>[0], world = {}) =>
  startListener(t, (request, response) => void response.end(addressOf(request)), world)

t.test('what a stranger says about itself is not believed', async (t) => {
  const { port } = await telling(t)
  for (const header of [
    'X-Forwarded-For: 203.0.113.9\r\n',
    'Forwarded: for=203.0.113.9\r\n',
    'X-Real-IP: 203.0.113.9\r\n',
    'Client-IP: 203.0.113.9\r\nCF-Connecting-IP: 203.0.113.9\r\n',
  ] as const)
    t.equal(seen(await rawRequest(port, get(header))), '127.0.0.1', header)
  t.match(await rawRequest(port, `PROXY TCP4 203.0.113.9 127.0.0.1 1 2\r\n${get()}`), / 400 /)
})

t.test('the chain of a balancer is walked from the right', async (t) => {
  const { port } = await telling(t, { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] })
  for (const [chain, client] of [
    ['203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['2001:DB8::7', '2001:db8::7'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, nonsense', '127.0.0.1'],
    ['', '127.0.0.1'],
  ] as const)
    t.equal(
      seen(await rawRequest(port, get(`X-Forwarded-For: ${chain}\r\n`))),
      client,
      `"${chain}"`,
    )
  const lines = 'X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 203.0.113.9\r\n'
  t.equal(seen(await rawRequest(port, get(lines))), '203.0.113.9', 'lines are one chain')
  t.equal(seen(await rawRequest(port, get('Forwarded: for=203.0.113.9\r\n'))), '127.0.0.1')
})

t.test('a PROXY header names the client, whatever it says itself', async (t) => {
  const world = { trustedProxies: ['127.0.0.1'], proxyProtocol: true }
  const { port, lines } = await telling(t, world)
  const header = 'PROXY TCP4 203.0.113.9 127.0.0.1 1 2\r\n'
  t.equal(seen(await rawRequest(port, header + get())), '203.0.113.9')
  const spoofed = get('X-Forwarded-For: 198.51.100.1\r\n')
  t.equal(seen(await rawRequest(port, header + spoofed)), '203.0.113.9')
  const binary = Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x21\x00\x24', 'latin1'),
    Buffer.from('20010db8000000000000000000000007'.padEnd(64, '0') + '00010002', 'hex'),
  ] as const)
  t.equal(seen(await rawRequest(port, binary.toString('latin1') + get(), 'latin1')), '2001:db8::7')
  for (const nobody of ['PROXY UNKNOWN\r\n', '\r\n\r\n\0\r\nQUIT\n\x20\0\0\0'])
    t.equal(
      seen(await rawRequest(port, nobody + spoofed, 'latin1')),
      '127.0.0.1',
      'where it names nobody, nothing that is forwarded is believed',
    )
  t.equal(await rawRequest(port, get()), '', 'a balancer that sends none is cut off')
  t.match(lines, [{}, {}, {}, {}, {}, { msg: 'a balancer sent no valid PROXY header' }])
})

t.test('a PROXY header and requests may come in any pieces', async (t) => {
  const world = { trustedProxies: ['127.0.0.1'], proxyProtocol: true }
  const { port } = await telling(t, world)
  const socket = connect(port, '127.0.0.1').setNoDelay()
  const text = `PROXY TCP4 203.0.113.9 127.0.0.1 1 2\r\nGET ${REALM} HTTP/1.1\r\nHost: a\r\n\r\n${get()}`
  const answered = new Promise<string>((resolve) => {
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString())).on('close', () => resolve(answer))
  })
  for (const byte of text) {
    await new Promise((resolve) => socket.write(byte, resolve))
    await new Promise(setImmediate)
  }
  t.equal((await answered).match(/203\.0\.113\.9/g)?.length, 2, 'both of its requests')
})
