/**
 * A link that serves nobody: it goes from one control plane to the next, resumes where it was, and
 * remembers what it was told of the tenant.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { connectRaw } from '../../test/support/raw-gateway.ts'
import { SECRETS } from '../../test/support/programs.ts'
import type { Told } from './history.ts'
import { TENANT } from './world.ts'

const AGAIN_MS = 100

export function startWatcher(ports: readonly number[], id = 'watcher') {
  const told: Told[] = []
  const closing: (() => unknown)[] = []
  const has = { epoch: '', revision: 0 }
  let isOver = false
  let links = 0
  let full = 0
  let synced = 0

  async function link(port: number) {
    const scope = { teardown: (close: () => unknown) => void closing.push(close) }
    const options = { id, fleetKey: SECRETS.SERVICE_FLEET_KEY, ...has }
    const raw = await connectRaw(scope, port, options)
    links += 1
    let epoch = ''
    raw.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as (typeof raw.received)[number]
      if (message.type === 'welcome') {
        epoch = message.epoch
        if (message.is_full) full += 1
      }
      if (message.type === 'tenant' && message.tenant_id === TENANT) {
        const { name } = message.snapshot as TenantSnapshot
        told.push({ epoch, revision: message.revision, name })
      }
      if (message.type === 'revoked' || message.type === 'revoked_synced')
        raw.send({ type: 'revoked_applied', sequence: message.sequence, is_durable: true })
      if (message.type === 'synced') {
        synced += 1
        Object.assign(has, { epoch: message.epoch, revision: message.revision })
        raw.send({ type: 'applied', ...has, is_durable: true })
      }
    })
    await raw.closed
  }

  async function watch() {
    for (let turn = 0; !isOver; turn++) {
      await link(ports[turn % ports.length] ?? 0).catch(() => {})
      if (!isOver) await sleep(AGAIN_MS)
    }
  }

  const done = watch()
  return {
    told,
    has,
    figures: () => ({ links, full, synced }),
    async stop() {
      isOver = true
      for (const close of closing) close()
      await done
    },
  }
}
