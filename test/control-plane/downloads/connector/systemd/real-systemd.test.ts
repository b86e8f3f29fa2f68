/**
 * The connector on a Debian that a real systemd runs as process 1: installed as people install it, run
 * as a user that exists for it alone, killed, installed once more with another Node, and removed, with
 * nothing left behind.
 */
// long: starts a system
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import {
  openKey,
  publicKeyOf,
} from '../../../../../control-plane/downloads/connector/state/own-keys.ts'
import type { Joined } from '../../../../../control-plane/downloads/connector/state/state-folder.ts'
import { startJoinable } from '../../../../support/connector-program.ts'
import { ask, openDoor } from '../../../../support/dialled-in.ts'
import { startSystemd, WITHOUT_SYSTEMD } from '../../../../support/systemd-machine.ts'
import { listening } from '../../../../support/wire.ts'

const APPLICATION = `
require('node:http').createServer((request, response) => response.end('from within')).listen(3000, '127.0.0.1')`

const WORDS = `
explain() {
  systemctl status --no-pager --lines 40 service-connector
  service-connector status
  service-connector diag
}
ready() { service-connector status; }
served() { [ "$(curl -s "$test/ask")" = '200 from within' ]; }
`

/** A service and a gateway outside; what the story wants of them it says to this test. */
async function start(t: Test) {
  const service = await startJoinable(t)
  const door = await openDoor(t)
  await service.services.gatewayDoors.connected(door.gatewayId, {
    address: door.address,
    certificate: door.certificate,
  })
  const here = createServer((request, response) => {
    void (async () => {
      if (request.url === '/node') return createReadStream(process.execPath).pipe(response)
      const said = await text(request)
      if (request.url === '/introduce') {
        // Its gateway knows it, as from a snapshot.
        const { connector_id: id, key } = JSON.parse(said) as Joined
        const pair = { privateKey: openKey(key), publicKey: publicKeyOf(key), keyId: key.key_id }
        door.allow({ [id]: pair })
        return response.end()
      }
      const { status, body, failure } = await ask(door.upstream)
      response.end(`${status} ${body}${failure}`)
    })()
  })
  const port = await listening(here)
  t.teardown(() => {
    here.closeAllConnections()
    here.close()
  })
  const machine = await startSystemd(t, 'connector', [service.port, door.port, port])
  return {
    ...service,
    door,
    run: (story: string) => machine.run(`test=http://127.0.0.1:${port}\n${WORDS}${story}`),
  }
}

void t.test(
  'installed, run, killed and removed: the file system is as it was',
  { skip: WITHOUT_SYSTEMD },
  async (t) => {
    const { run, baseUrl, token, connectors, door } = await start(t)
    const secret = await token()
    const { isDone, why, read, left } = await run(`
node -e "${APPLICATION.trim()}" &
tree before
curl -fsSL ${baseUrl}/api/v1/connector/install | SERVICE_INSTALL_DIR=/usr/local/bin sh
(umask 077 && echo ${secret} >/root/token)
service-connector join --origin http://127.0.0.1:3000 --token-file /root/token
rm /root/token
curl -s --data-binary @/var/lib/service-connector/connector.json $test/introduce

export HTTPS_PROXY=http://me:a-proxy-password@proxy.invalid:3128 NO_PROXY=127.0.0.1
service-connector service install
unset HTTPS_PROXY
until_true ready
until_true served
tree between

pid() { systemctl show --property MainPID --value service-connector; }
first=$(pid)
cat "/proc/$first/status" >rights
tr '\\0' '\\n' <"/proc/$first/cmdline" >cmdline
tr '\\0' '\\n' <"/proc/$first/environ" >environ
ls -lnA /var/lib/private/service-connector-running >kept
ls -ln /etc/systemd/system/service-connector.service >unit
cat /etc/systemd/system/service-connector.service >>unit
journalctl --no-pager -u service-connector >log
sed -n 's/.*"private_key": *"\\([^"]*\\)".*/\\1/p' /var/lib/service-connector/connector.json >key
[ -s key ]
grep -rlFf key /proc/$first/cmdline /proc/$first/environ /etc /usr/local log >found 2>/dev/null || true
grep -rlF -e ${secret} -e a-proxy-password /etc /usr/local /run/log /var/log log >>found 2>/dev/null || true
systemctl show service-connector >>shown
find /var/lib/service-connector /var/lib/private/service-connector-running -perm /077 >open

kill -KILL "$first"
until_true served
[ "$first" != "$(pid)" ]
systemctl show --property NRestarts --value service-connector >restarts

curl -s -o /usr/local/bin/node "$test/node"
chmod 755 /usr/local/bin/node
hash -r
service-connector service install
until_true served
readlink "/proc/$(pid)/exe" >runtime
stopped=$SECONDS
systemctl stop service-connector
echo $((SECONDS - stopped)) >stopping
systemctl show --property Result --value service-connector >result

service-connector service uninstall
tree joined
service-connector leave
curl -fsSL ${baseUrl}/api/v1/connector/install | SERVICE_INSTALL_DIR=/usr/local/bin sh -s uninstall
rm /usr/local/bin/node
tree after
systemctl list-units --all --no-legend 'service-connector*' >units
`)
    t.ok(isDone, why)
    t.strictSame(left(), [], 'nothing is left behind, and all is as it was')
    t.match(read('between'), ' /usr/local/lib/service-connector/service-connector.mjs')
    t.notMatch(read('joined'), /service-connector-running|usr\/local\/lib\/service-connector/)
    t.match(read('joined'), ' /var/lib/service-connector/connector.json')
    t.equal(read('units'), '')
    t.equal(read('found'), '', 'no secret is where others read')
    t.equal(read('open'), '', 'and its folders are its own')
    t.notMatch(read('shown') + read('environ') + read('cmdline'), 'a-proxy-password')
    t.match(read('unit'), /^-rw-r--r-- 1 0 0 /)
    t.match(read('log'), /"msg":"connected"/)
    t.match(read('rights'), /^CapEff:\t0+$/m)
    t.match(read('rights'), /^NoNewPrivs:\t1$/m)
    t.match(read('rights'), /^Seccomp:\t2$/m)
    const [, uid = '0'] = /^Uid:\t(\d+)/m.exec(read('rights')) ?? []
    t.ok(Number(uid) >= 61_184 && Number(uid) <= 65_519, `a user that systemd makes up: ${uid}`)
    t.match(read('kept'), new RegExp(`^-rw------- 1 ${uid} \\d+ .* connector\\.json$`, 'm'))
    t.match(read('cmdline'), '/usr/local/lib/service-connector/service-connector.mjs')
    t.equal(read('restarts').trim(), '1')
    t.equal(read('runtime').trim(), '/usr/local/bin/node', 'and by the Node of these tests as well')
    t.equal(read('result').trim(), 'success')
    t.ok(Number(read('stopping')) < 30, `stopped in ${read('stopping').trim()} s`)
    t.strictSame(await connectors(), [], 'it has left')
    t.strictSame([...door.connectors.present()], [])
  },
)
