/** What a gateway knows of where connectors are, while control planes come and go. */
import t from 'tap'
import { createKnownHolders } from '../../../gateway/fleet/known-holders.ts'
import type { RelayChange } from '../../../gateway/fleet/relay-messages.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { until } from '../../support/fleet.ts'

const message = (is_first: boolean, tenants: [string, string[]][]) =>
  ({ type: 'holders', is_first, tenants }) as const

t.test('changes, and all of it for a worker that begins', (t) => {
  const relayed: RelayChange[] = []
  const holders = createKnownHolders({ relay: (change) => void relayed.push(change) })
  t.teardown(() => holders.close())
  t.same([...holders.state()], [], 'nobody has said anything')
  holders.receive(message(true, []))
  t.strictSame([...holders.state()], [{ type: 'holders', tenants: [] }], 'nobody has any')
  holders.receive(
    message(false, [
      ['acme', ['edge-1', 'edge-2']],
      ['other', ['edge-1']],
    ]),
  )
  holders.receive(
    message(false, [
      ['acme', ['edge-2']],
      ['other', []],
    ]),
  )
  t.strictSame(relayed.at(-1), {
    type: 'holders',
    tenants: [
      ['acme', ['edge-2']],
      ['other', []],
    ],
  })
  t.strictSame([...holders.state()], [{ type: 'holders', tenants: [['acme', ['edge-2']]] }])
  t.end()
})

t.test('a control plane that has just begun takes nothing away for a while', async (t) => {
  t.equal(LIMITS.connectorPresenceMs, 15_000)
  const relayed: RelayChange[] = []
  const relay = (change: RelayChange) => void relayed.push(change)
  const holders = createKnownHolders({ relay, keptMs: 50 })
  t.teardown(() => holders.close())
  holders.receive(
    message(true, [
      ['acme', ['edge-1']],
      ['other', ['edge-1']],
    ]),
  )
  holders.receive(message(true, [['acme', ['edge-2']]]))
  t.strictSame(
    [...holders.state()],
    [
      {
        type: 'holders',
        tenants: [
          ['acme', ['edge-2', 'edge-1']],
          ['other', ['edge-1']],
        ],
      },
    ],
    'the newest word first',
  )
  const before = relayed.length
  await until(() => relayed.length > before)
  t.strictSame(relayed.at(-1), {
    type: 'holders',
    tenants: [
      ['acme', ['edge-2']],
      ['other', []],
    ],
  })
})
