/** Whose request is begun first, and how many in one turn of the event loop. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { createAdmission, type Priority } from '../../../control-plane/listener/admission.ts'
import { asStranger, isStrangers } from '../../../control-plane/store/precedence.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { SECRETS } from '../../support/programs.ts'
import { REALM, startListener } from './served.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

const OPERATOR_KEY = SECRETS.SERVICE_OPERATOR_KEY

function admission(
  limits: { perTurn?: number; waitingMax?: number; perAddress?: number; perSite?: number } = {},
) {
  const turns: (() => void)[] = []
  const begun: string[] = []
  const { perTurn = 2, waitingMax = 100, perAddress = 100, perSite = 100 } = limits
  const { enter } = createAdmission(
    { perTurn, waitingMax, waitingPerAddressMax: perAddress, waitingPerSiteMax: perSite },
    (turn) => void turns.push(turn),
  )
  return {
    enter: (rank: Priority, address: string, name = address) =>
      enter(rank, address, () => void begun.push(name)),
    /** Whose were begun since. */
    begun: () => begun.splice(0),
    turn: () => turns.splice(0).forEach((turn) => turn()),
    turns,
  }
}

t.test('who waited is begun as itself, and not as part of who had the turn', async (t) => {
  const who = new AsyncLocalStorage<string>()
  const turns: (() => void)[] = []
  const begun: (string | undefined)[] = []
  const most = { waitingMax: 9, waitingPerAddressMax: 9, waitingPerSiteMax: 9 }
  const { enter } = createAdmission({ perTurn: 1, ...most }, (turn) => void turns.push(turn))
  for (const name of ['a', 'b', 'c'])
    who.run(name, () => enter('stranger', name, () => void begun.push(who.getStore())))
  for (const turn of turns.splice(0)) who.run('a', turn)
  for (const turn of turns.splice(0)) who.run('a', turn)
  t.same(begun, ['a', 'b', 'c'])
})

t.test('a few are begun in a turn, each address has one after the other', async (t) => {
  const { enter, begun, turn, turns } = admission()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) enter('stranger', 'a', name)
  enter('stranger', 'b')
  t.same(begun(), ['a1', 'a2'])
  turn()
  t.same(begun(), ['a3', 'b'])
  turn()
  t.same(begun(), ['a4', 'a5'])
  turn()
  t.same(turns, [], 'nobody waits, so no turn is asked for')
  enter('stranger', 'c')
  t.same(begun(), ['c'])
})

t.test('the operator never waits', async (t) => {
  const { enter, begun } = admission()
  for (const name of ['a1', 'a2', 'a3']) enter('stranger', 'a', name)
  for (const name of ['o1', 'o2', 'o3']) enter('operator', 'a', name)
  t.same(begun(), ['a1', 'a2', 'o1', 'o2', 'o3'])
})

t.test('who shows something goes first, and who does not is never starved', async (t) => {
  const { enter, begun, turn } = admission()
  for (const name of ['s1', 's2', 's3', 's4', 's5']) enter('stranger', 's', name)
  for (const name of ['k1', 'k2', 'k3']) enter('keyed', 'k', name)
  begun()
  turn()
  t.same(begun(), ['k1', 's3'])
  turn()
  t.same(begun(), ['k2', 's4'])
  turn()
  t.same(begun(), ['k3', 's5'])
  for (const name of ['k4', 'k5', 'k6']) enter('keyed', 'k', name)
  turn()
  t.same(begun(), ['k4', 'k5'], 'without strangers every turn is theirs')
})

t.test('who shows what was found good goes before who shows anything', async (t) => {
  const { enter, begun, turn } = admission()
  for (const name of ['s1', 's2', 's3', 's4']) enter('stranger', 's', name)
  for (const name of ['f1', 'f2', 'f3', 'f4']) enter('keyed', 'f', name)
  for (const name of ['k1', 'k2', 'k3', 'k4']) enter('known', 'k', name)
  begun()
  turn()
  t.same(begun(), ['k1', 'f1'])
  turn()
  t.same(begun(), ['k2', 's3'])
  turn()
  t.same(begun(), ['k3', 'f2'])
  turn()
  t.same(begun(), ['k4', 's4'], 'and those of whom nobody knows anything have the last by turns')
  turn()
  t.same(begun(), ['f3', 'f4'])
})

t.test('a flood that fills the room leaves that of the known', async (t) => {
  const { enter } = admission({ perTurn: 1, waitingMax: 2 })
  t.same(
    [1, 2, 3, 4].map(() => enter('keyed', 'f')),
    [true, true, true, false],
  )
  t.same(
    [1, 2, 3].map(() => enter('known', 'f')),
    [true, true, false],
  )
})

t.test('an address may let N wait, and fills no room for another', async (t) => {
  const one = admission({ perTurn: 1, perAddress: 3 })
  t.same(
    [1, 2, 3, 4, 5].map(() => one.enter('stranger', 'a')),
    [true, true, true, true, false],
  )
  const all = admission({ perTurn: 1, waitingMax: 3 })
  t.same(
    [1, 2, 3, 4, 5].map(() => all.enter('stranger', 'a')),
    [true, true, true, true, false],
  )
  t.ok(all.enter('stranger', 'b'), 'of whom nobody waits')
  t.notOk(all.enter('stranger', 'b'))
  t.ok(all.enter('operator', 'a'))
})

t.test('sites take turns, and in each its networks do, whatever they have', async (t) => {
  const { enter, begun, turn } = admission({ perTurn: 1 })
  enter('stranger', '192.0.2.9')
  for (let at = 0; at < 3; at++) enter('stranger', `2001:db8:1:${at}::1`)
  enter('stranger', '2001:db8:1:0::2')
  enter('stranger', '2001:db8:2::1')
  const order = begun()
  for (let count = 0; count < 5; count++) {
    turn()
    order.push(...begun())
  }
  t.same(order, [
    '192.0.2.9',
    '2001:db8:1:0::1',
    '2001:db8:2::1',
    '2001:db8:1:1::1',
    '2001:db8:1:2::1',
    '2001:db8:1:0::2',
  ])
})

t.test('a site may let N wait over all its networks', async (t) => {
  const { enter } = admission({ perTurn: 1, perSite: 2 })
  t.same(
    [1, 2, 3, 4].map((at) => enter('stranger', `2001:db8:1:${at}::1`)),
    [true, true, true, false],
  )
  t.ok(enter('stranger', '2001:db8:2::1'))
  t.ok(LIMITS.admissionWaitingPerSiteMax >= LIMITS.admissionWaitingPerAddressMax)
})

t.test('what fails to begin stops nobody behind it', async (t) => {
  const turns: (() => void)[] = []
  const limits = { perTurn: 1, waitingMax: 9, waitingPerAddressMax: 9, waitingPerSiteMax: 9 }
  const { enter } = createAdmission(limits, (turn) => void turns.push(turn))
  const begun: string[] = []
  enter('stranger', 'a', () => void begun.push('a'))
  enter('stranger', 'b', () => {
    throw new Error('failed')
  })
  enter('stranger', 'c', () => void begun.push('c'))
  t.throws(() => turns.shift()?.(), /failed/)
  turns.shift()?.()
  t.same(begun, ['a', 'c'])
})

/** All in one turn of the event loop, each on its own connection, and their answers. */
async function requests(
  t: Parameters<typeof startListener>[0],
  { server, port }: Awaited<ReturnType<typeof startListener>>,
  heads: string[],
) {
  const sockets: Socket[] = []
  for (const _head of heads) {
    const accepted = once(server, 'connection')
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    await Promise.all([accepted, once(socket, 'connect')])
    sockets.push(socket)
  }
  await new Promise(setImmediate) // the last is listened to as well
  const answers = sockets.map(async (socket) => String((await once(socket, 'data'))[0]))
  for (const [at, socket] of sockets.entries())
    socket.write(`GET ${REALM}/${at} HTTP/1.1\r\nHost: a\r\n${heads[at]}\r\n`)
  return Promise.all(answers)
}

t.test('on the wire: the operator goes before all that came before', async (t) => {
  const order: string[] = []
  const world = { operatorKey: createLiveKey(OPERATOR_KEY) }
  const listener = await startListener(
    t,
    (request, response) => {
      order.push(request.url!.slice(REALM.length + 1))
      response.end()
    },
    world,
  )
  await requests(t, listener, [
    ...['', '', '', ''],
    'Authorization: Bearer wrong\r\n',
    'Cookie: a=b\r\n',
    `Authorization: Bearer ${OPERATOR_KEY}\r\n`,
    'Connection: close\r\n',
  ])
  t.same(order, ['0', '1', '6', '4', '2', '5', '3', '7'])
})

t.test('on the wire: too many of one address at once are told to come again', async (t) => {
  let begun = 0
  const listener = await startListener(t, (_request, response) => {
    begun++
    response.end()
  })
  const most = LIMITS.admittedPerTurnMax + LIMITS.admissionWaitingPerAddressMax
  const answers = await requests(t, listener, Array<string>(most + 1).fill(''))
  const refused = answers.filter((answer) => answer.startsWith('HTTP/1.1 503 '))
  t.equal(refused.length, 1)
  t.match(refused[0], /retry-after: 1/i)
  t.equal(begun, most)
  t.ok(LIMITS.admissionWaitingMax >= LIMITS.admissionWaitingPerAddressMax)
})

t.test('on the wire: a request is begun as itself behind one of a stranger', async (t) => {
  const seen: string[] = []
  const listener = await startListener(t, (request, response) => {
    seen.push(`${request.url!.at(-1)} ${isStrangers()}`)
    const answer = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      response.end()
    }
    return request.url!.endsWith('0') ? asStranger(answer) : answer()
  })
  const socket = connect(listener.port, '127.0.0.1').resume()
  const head = (name: number, more = '') =>
    `GET ${REALM}/${name} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
  socket.write(head(0) + head(1) + head(2, 'Connection: close\r\n'))
  await once(socket, 'close')
  t.same(seen, ['0 false', '1 false', '2 false'])
})
