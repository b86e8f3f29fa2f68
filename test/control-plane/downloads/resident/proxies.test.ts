/** Which way out is taken, by the variables that every program on a machine goes by. */
import t from 'tap'
import { readProxies, type Target } from '../../../../control-plane/downloads/resident/proxies.ts'

const PROXY = 'http://me:s3cret@proxy.example:3128'
const to = (host: string, port = 443, isSecure = true): Target => ({ host, port, isSecure })

void t.test('HTTPS_PROXY for what is secure, HTTP_PROXY for the rest', async (t) => {
  const proxies = readProxies({ HTTPS_PROXY: PROXY, http_proxy: 'plain.example:8080' })
  t.equal(proxies(to('id.example'))?.href, `${PROXY}/`)
  t.equal(proxies(to('id.example', 80, false))?.href, 'http://plain.example:8080/')
  t.equal(readProxies({})(to('id.example')), undefined)
  t.equal(readProxies({ HTTPS_PROXY: ' ' })(to('id.example')), undefined)
  const lower = readProxies({ https_proxy: 'http://lower', HTTPS_PROXY: 'http://upper' })
  t.equal(lower(to('id.example'))?.host, 'lower')
  t.equal(readProxies({ ALL_PROXY: 'http://all' })(to('id.example'))?.host, 'all')
})

void t.test('NO_PROXY: hosts, domains, ports, addresses and networks', async (t) => {
  const isStraight = (exceptions: string, target: Target) =>
    readProxies({ HTTPS_PROXY: PROXY, NO_PROXY: exceptions })(target) === undefined
  const cases: readonly (readonly [string, Target, boolean])[] = [
    ['*', to('id.example'), true],
    ['id.example', to('id.example'), true],
    ['ID.Example', to('id.example'), true],
    ['example', to('id.example'), true],
    ['.example', to('id.example'), true],
    ['*.example', to('id.example'), true],
    ['example', to('notexample'), false],
    ['id.example:443', to('id.example'), true],
    ['id.example:8443', to('id.example'), false],
    ['a, b  id.example', to('id.example'), true],
    ['10.0.0.0/8', to('10.1.2.3'), true],
    ['10.0.0.0/8', to('11.1.2.3'), false],
    ['10.0.0.0/99', to('10.1.2.3'), false],
    ['fd00::/8', to('fd12::1'), true],
    ['fd00::/8', to('fe80::1'), false],
    ['127.0.0.1', to('127.0.0.1'), true],
    ['0.0.1', to('127.0.0.1'), false],
    ['::1', to('::1'), true],
    ['[::1]:443', to('::1'), true],
    ['', to('id.example'), false],
  ]
  for (const [exceptions, target, expected] of cases)
    t.equal(isStraight(exceptions, target), expected, `${exceptions} ${target.host}`)
})

void t.test('what is no HTTP proxy is refused, and nothing of it is shown', async (t) => {
  for (const wrong of [
    'socks5://me:s3cret@proxy',
    'http://',
    'http://me:s3cret@:1',
    'http://me:s3cret%@proxy',
    'ftp://proxy',
  ])
    try {
      readProxies({ HTTPS_PROXY: wrong })
      t.fail(wrong)
    } catch (error) {
      t.match(error, { code: 'proxy_invalid', lines: [/^HTTPS_PROXY is not the address/] })
      t.notMatch((error as { lines: string[] }).lines.join(), 's3cret')
    }
})
