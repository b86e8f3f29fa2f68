/** The agent with a real control plane: it enrolls, checks in, survives what happens to machines, and leaves. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import { createChain } from '../../../../control-plane/downloads/device-agent/running/chain.ts'
import {
  backoffMs,
  laterMs,
  pollMs,
} from '../../../../control-plane/downloads/device-agent/running/check-ins.ts'
import { writeFacts } from '../../../../control-plane/downloads/device-agent/running/facts-file.ts'
import {
  CollectedSchema,
  toldOf,
} from '../../../../control-plane/downloads/device-agent/running/posture.ts'
import { openKey } from '../../../../control-plane/downloads/device-agent/key/device-key.ts'
import { createAgentService } from '../../../../control-plane/downloads/device-agent/service/agent-service.ts'
import type { Device } from '../../../../control-plane/downloads/device-agent/state/device-state.ts'
import { readProxies } from '../../../../control-plane/downloads/resident/proxies.ts'
import { DEVICE_FACTS } from '../../../../shared/device/facts.ts'
import * as v from 'valibot'
import { newTenant } from '../../../support/api.ts'
import { agentHere } from '../../../support/device-agent.ts'
import { random32 } from '../../../support/devices.ts'
import { startPublicServer } from '../../../support/public-server.ts'

const DEVICES = '/tenants/acme/devices'

async function start(t: Test) {
  const server = await startPublicServer(t)
  const { operator, baseUrl } = server
  await operator('POST', '/tenants', newTenant('acme'))
  await operator('POST', '/tenants/acme/publish')
  const agent = agentHere(t, baseUrl)
  return {
    ...server,
    ...agent,
    async ticket() {
      const made = await operator('POST', '/tenants/acme/device-tickets', { platform: 'linux' })
      return String(made.body['ticket'])
    },
    devices: async () => (await operator('GET', DEVICES)).items,
  }
}

const TPM_WORLD = {
  tool: async () => ({ code: null, out: Buffer.alloc(0), err: '' }),
  device: '/nowhere',
}

/** Another start of the agent with this state; what is written is kept in `kept`. */
function chainOf(device: Device, baseUrl: string, lose: readonly string[] = []) {
  const kept = { device }
  const service = createAgentService({ baseUrl, proxies: readProxies({}) })
  const chain = createChain({
    device,
    key: openKey(device.key, TPM_WORLD),
    service: {
      ...service,
      checkIn: async (payload, signing) => {
        const answer = await service.checkIn(payload, signing)
        if (lose.includes('answer')) throw new Error('the answer was lost')
        return answer
      },
    },
    write: async (written) => void (kept.device = written),
    bootId: random32(),
    told: async () => toldOf(null, 1000, 'linux'),
    nowMs: Date.now,
  })
  return { chain, kept }
}

void t.test('it enrolls once, keeps its key to itself, and leaves', async (t) => {
  const { call, ticket, state, device, devices } = await start(t)
  const secret = await ticket()
  const enrolled = await call(['enroll'], { ticket: secret })
  t.match(enrolled, {
    code: 0,
    out: /^Enrolled as dev_[0-9a-f]{16} of acme\. The key is in a file/,
  })
  t.match(enrolled.err, /The TPM is not used: there is none\./)
  t.match(await devices(), [
    { device_id: device().device_id, hostname: 'laptop-1', key_storage: 'file' },
  ])
  t.strictSame(readdirSync(state).sort(), ['device.json', 'updates.json'])
  t.equal(statSync(state).mode & 0o777, 0o700)
  for (const name of readdirSync(state)) {
    t.equal(statSync(join(state, name)).mode & 0o777, 0o600, name)
    t.notMatch(readFileSync(join(state, name), 'utf8'), secret, 'the ticket is kept nowhere')
  }
  t.notMatch(enrolled.out + enrolled.err, secret)
  const again = await call(['enroll'], { ticket: await ticket() })
  t.match(again, { code: 0, out: /already\. The ticket was not used\./ })
  t.equal((await devices()).length, 1)

  t.match(await call(['leave']), { code: 0, out: /^Left acme\./, err: '' })
  t.strictSame(await devices(), [])
  t.throws(() => readdirSync(state), { code: 'ENOENT' }, 'nothing of it is left')
  t.match(await call(['run']), { code: 1, err: /^No device is enrolled in/ })
})

void t.test('an end between the answer and the disk costs no other ticket', async (t) => {
  const { call, ticket, state, device, devices } = await start(t)
  const secret = await ticket()
  const inTheWay = join(state, 'updates.json')
  mkdirSync(join(inTheWay, 'full'), { recursive: true, mode: 0o700 })
  t.match(await call(['enroll'], { ticket: secret }), { code: 1 })
  const [enrolled] = await devices()
  rmSync(inTheWay, { recursive: true })
  t.match(await call(['enroll'], { ticket: secret }), { code: 0 })
  t.equal(device().device_id, enrolled?.['device_id'], 'the same key is the same device')
  t.equal((await devices()).length, 1)
})

void t.test('a ticket is taken from no argument, and a refused one leaves nothing', async (t) => {
  const { call, ticket, state, devices } = await start(t)
  const secret = await ticket()
  for (const wrong of [
    ['--ticket', secret],
    [`--ticket=${secret}`],
    [secret],
    ['--port', secret],
  ]) {
    const refused = await call(['enroll', ...wrong])
    t.match(refused, { code: 2, out: '', err: /Tickets are not accepted as arguments/ })
    t.notMatch(refused.err, secret)
  }
  t.match(await call(['enroll']), { code: 2, err: /^A ticket is needed/ })
  t.match(await call(['enroll'], { ticket: 'two words' }), {
    code: 2,
    err: /^That is not a ticket/,
  })
  t.match(await call(['enroll'], { ticket: 'sdt_nobodys' }), { code: 1 })
  t.throws(() => readdirSync(state), { code: 'ENOENT' })
  t.strictSame(await devices(), [])
})

void t.test('it checks in with its facts, and again when they change', async (t) => {
  const { call, start: begin, ticket, facts, operator, device } = await start(t)
  await call(['enroll'], { ticket: await ticket() })
  const fact = (value: boolean) => ({ value, reason: value ? 'encrypted' : 'not_encrypted' })
  const collected = (isEncrypted: boolean) =>
    v.parse(CollectedSchema, {
      version: 1,
      up_s: 990,
      facts: Object.fromEntries(DEVICE_FACTS.map((name) => [name, fact(isEncrypted)])),
      os: { id: 'debian', version: '12' },
    })
  await writeFacts(facts, collected(true))
  const running = begin(['run', '--port', '0', '--facts', facts])
  await running.logged('sign-ins can be answered')
  await new Promise<void>((resolve) => {
    const look = () => (device().checked_in_at === null ? setImmediate(look) : resolve())
    look()
  })
  const path = `${DEVICES}/${device().device_id}`
  t.match((await operator('GET', path)).body, {
    posture: { os: { id: 'debian', version: '12' }, facts: { disk_encrypted: { value: true } } },
  })
  const second = await call(['run', '--port', '0'])
  t.match(second, { code: 1, err: /An agent already runs with/ })
  t.match(await call(['status', '--facts', facts]), {
    code: 0,
    out: /^Device +dev_[0-9a-f]+ of acme\nState +enrolled\nKey +in a file, not in a TPM\n/,
  })
  running.stop()
  t.match(await running.ended, { code: 0 })
  await writeFacts(facts, collected(false))
  chmodSync(facts, 0o666)
  t.match(await call(['status', '--facts', facts]), {
    out: /disk_encrypted +unknown \(not_reported\)/,
  })
})

void t.test(
  'it shows a code to whoever asks on its machine, where the policy allows it',
  async (t) => {
    const { call, start: begin, ticket, device, operator } = await start(t)
    const allow = (typed_code: boolean) =>
      operator('PUT', '/tenants/acme/policies/device', { require: 'enrolled', typed_code })
    await call(['enroll'], { ticket: await ticket() })
    const running = begin(['run', '--port', '0'])
    const log = await running.logged('sign-ins can be answered')
    const port = /"port":(\d+)/.exec(log)?.[1] ?? ''
    const ask = () => call(['code', '--port', port])
    t.match(await ask(), { code: 1, err: /^Your tenant does not accept codes\./ })
    await allow(true)
    const shown = await ask()
    t.match(shown, { code: 0, err: /within 60 seconds\. Never read it to anyone/ })
    t.match(shown.out, /^[A-Z]{4}-[A-Z]{4}\n$/)
    t.not((await ask()).out, shown.out)
    const path = `${DEVICES}/${device().device_id}`
    t.match((await operator('GET', path)).body, { state: /approved|pending/ }, 'it is no copy')
    t.equal((await operator('DELETE', path)).status, 204)
    t.match(await ask(), { code: 1, err: /no longer enrolled/ })
    running.stop()
    await running.ended
    t.match(await ask(), { code: 3, err: /^No agent answers on 127\.0\.0\.1:/ })
    t.match(await call(['code', '--port', 'x']), { code: 2 })
  },
)

void t.test('an end at any moment is no copy, and a lost answer is none', async (t) => {
  const { call, ticket, device, baseUrl, operator } = await start(t)
  await call(['enroll'], { ticket: await ticket() })
  const state = async () =>
    String((await operator('GET', `${DEVICES}/${device().device_id}`)).body['state'])
  const before = await state()
  // killed before anything was sent, and started again
  let { chain, kept } = chainOf(device(), baseUrl)
  await chain.checkIn()
  // killed after it was sent: the state is that of before the answer
  const lost = chainOf(kept.device, baseUrl, ['answer'])
  await t.rejects(lost.chain.checkIn(), /the answer was lost/)
  t.equal(lost.kept.device.link.is_sent, true, 'on the disk before it is sent')
  ;({ chain, kept } = chainOf(lost.kept.device, baseUrl))
  await chain.checkIn()
  await chain.checkIn()
  t.equal(await state(), before)
  t.equal(kept.device.state, 'fine')

  // two machines with one state: whichever comes second is told, and then both
  const original = chainOf(kept.device, baseUrl)
  const copy = chainOf(kept.device, baseUrl)
  await original.chain.checkIn()
  await t.rejects(copy.chain.checkIn(), { code: 'device_suspect_clone' })
  t.equal(copy.kept.device.state, 'suspect_clone')
  await t.rejects(original.chain.checkIn(), { code: 'device_suspect_clone' })
  t.equal(await state(), 'suspect_clone')
})

void t.test('a state that was lost is mended by a nonce', async (t) => {
  const { call, ticket, device, baseUrl, operator } = await start(t)
  await call(['enroll'], { ticket: await ticket() })
  const first = chainOf(device(), baseUrl)
  await first.chain.checkIn()
  // what root has enrolled, once more
  const adopted = chainOf({ ...device(), link: { ...device().link, is_lost: true } }, baseUrl)
  await adopted.chain.checkIn()
  await adopted.chain.checkIn()
  t.equal(adopted.kept.device.state, 'fine')
  const path = `${DEVICES}/${device().device_id}`
  t.not((await operator('GET', path)).body['state'], 'suspect_clone')
})

void t.test('a revoked device says so once, and enrolls again with a new ticket', async (t) => {
  const { call, start: begin, ticket, device, operator, devices } = await start(t)
  await call(['enroll'], { ticket: await ticket() })
  await operator('DELETE', `${DEVICES}/${device().device_id}`)
  const running = begin(['run', '--port', '0'])
  await running.logged('removed or revoked')
  running.stop()
  await running.ended
  t.match(await call(['status']), { code: 1, out: /State +removed or revoked/ })
  const before = device().device_id
  t.match(await call(['enroll'], { ticket: await ticket() }), { code: 0, out: /^Enrolled as/ })
  t.not(device().device_id, before)
  t.ok((await devices()).length >= 1)
})

void t.test('who is one too many comes when he is told, with the same message', async (t) => {
  const { baseUrl, ticket, operator } = await start(t)
  const checkIns: { atMs: number; link: object }[] = []
  const front = createServer((incoming, response) => {
    void (async () => {
      const { method = '', url = '', headers } = incoming
      const body = await text(incoming)
      if (url.endsWith('/checkin')) {
        const { prev, boot_id, ctr } = decodeJwt(body)
        checkIns.push({ atMs: performance.now(), link: { prev, boot_id, ctr } })
        if (checkIns.length < 2) {
          response.writeHead(503, { 'retry-after': '2', 'content-type': 'application/json' })
          return void response.end('{"error":"too_busy"}')
        }
      }
      const { authorization = '', 'content-type': type = '' } = headers
      const sent = { method, body, headers: { authorization, 'content-type': type } }
      const answer = await fetch(`${baseUrl}${url}`, sent)
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(await answer.text())
    })()
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    front.closeAllConnections()
    front.close()
  })
  const { port } = front.address() as AddressInfo
  const agent = agentHere(t, `http://127.0.0.1:${port}`)
  t.match(await agent.call(['enroll'], { ticket: await ticket() }), { code: 0 })
  const running = agent.start(['run', '--port', '0'])
  await new Promise<void>((resolve) => {
    const look = () => (agent.device().checked_in_at === null ? setImmediate(look) : resolve())
    look()
  })
  running.stop()
  await running.ended
  const [first, second] = checkIns
  t.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 1990, 'no sooner')
  t.strictSame(second?.link, first?.link)
  const path = `${DEVICES}/${agent.device().device_id}`
  t.not((await operator('GET', path)).body['state'], 'suspect_clone')
})

void t.test('its clock may be two days off, either way', async (t) => {
  for (const off of [-2, 2]) {
    const { call, start: begin, ticket, device } = await start(t)
    const nowMs = () => Date.now() + off * 86_400_000
    t.match(await call(['enroll'], { ticket: await ticket(), nowMs }), { code: 0 })
    const { base_url: baseUrl } = device()
    const { chain } = chainOf(device(), baseUrl)
    await chain.checkIn()
    const running = begin(['run', '--port', '0'], { nowMs })
    await running.logged('sign-ins can be answered')
    running.stop()
    t.match(await running.ended, { code: 0 })
  }
})

void t.test('what is kept is refused where others could have changed it', async (t) => {
  const { call, ticket, state } = await start(t)
  await call(['enroll'], { ticket: await ticket() })
  chmodSync(join(state, 'device.json'), 0o644)
  t.match(await call(['status']), { code: 1, err: /Others on this machine can read the key/ })
  chmodSync(join(state, 'device.json'), 0o600)
  writeFileSync(join(state, 'device.json'), '{')
  t.match(await call(['status']), { code: 1, err: /its content is not valid/ })
})

void t.test('pauses: never sooner than was asked for, spread, and without an end', (t) => {
  const [least, most] = [() => 0, () => 0.999]
  t.equal(laterMs(60, least), 60_000)
  t.ok(laterMs(60, most) > 74_000 && laterMs(60, most) <= 75_000)
  t.ok(laterMs(0, least) >= 1000, 'no loop')
  t.equal(laterMs(999_999, most), 86_400_000)
  t.equal(pollMs(3600, least), 3_600_000)
  t.ok(pollMs(3600, most) >= 0.9 * 3_600_000)
  t.equal(backoffMs(1, least), 1000)
  t.ok(backoffMs(50, most) <= 900_000 && backoffMs(50, most) > 890_000)
  t.end()
})
