/** A tenant that people come in to by a provider of their company. */
import type { JWTPayload } from 'jose'
import type { Test } from 'tap'
import { domainProofOf, domainRecordOf } from '../../../../control-plane/connections/domains.ts'
import { schema } from '../../../../control-plane/store/schema.ts'
import {
  ACTOR,
  startWorld,
  type TestTenant,
  type World,
  type WorldOptions,
} from '../realm-world.ts'
import { begin } from '../steps.ts'
import { CLIENT, startPeer, type Peer } from './provider-peer.ts'

type Wished = Partial<Parameters<World['connections']['create']>[1]>

export async function startConnected(t: Test, options: WorldOptions = {}, wished: Wished = {}) {
  const peer = await startPeer(t)
  const world = await startWorld(t, { receivers: peer.receivers, ...options })
  const tenant = await world.tenant('acme')
  const connection = await activeConnection(world, 'acme', peer, wished)
  return { peer, world, tenant, connection }
}

export async function activeConnection(
  world: World,
  tenantId: string,
  peer: Pick<Peer, 'issuer'>,
  wished: Wished = {},
) {
  const created = await world.connections.create(
    tenantId,
    {
      ...{ preset: 'oidc', name: 'Company', issuer: peer.issuer, hostedDomain: null },
      ...{ createsPeople: true, mfaValues: [], ...CLIENT, ...wished },
    },
    ACTOR,
  )
  const { connectionId } = created
  await world.connections.noteTested(tenantId, connectionId, created.updatedAt, ACTOR)
  return world.connections.activate(tenantId, connectionId, ACTOR)
}

export const GRACE: JWTPayload = {
  sub: 'grace-1',
  email: 'grace@company.example',
  email_verified: true,
  name: 'Grace Hopper',
}

/** At the provider, which is asked to sign somebody in. */
export async function atProvider(
  world: World,
  tenant: TestTenant,
  { connectionId }: { connectionId: string },
  parameters: Record<string, string> = {},
) {
  const person = await begin(world, tenant, parameters)
  const { browser, page } = person
  const start = `${page.url.split('?')[0]}/connection/${connectionId}`
  const sent = await browser.once(start)
  const { status } = sent
  return { ...person, start, status, to: sent.headers.get('location') ?? '', answer: sent }
}

/** Name servers that a tenant publishes its proofs at. */
export function startNames() {
  const records = new Map<string, string[][]>()
  return {
    records,
    resolveTxt: async (name: string) => records.get(name) ?? [],
    async prove(
      { connectionDomains }: World,
      { tenantId, connectionId }: { tenantId: string; connectionId: string },
      domain = 'company.example',
    ) {
      const { token } = await connectionDomains.add(tenantId, connectionId, domain, ACTOR)
      records.set(domainRecordOf(domain), [[domainProofOf(token)]])
      await connectionDomains.check(tenantId, connectionId, domain, ACTOR)
    },
  }
}

export async function usersOf(world: World) {
  return world.store.read.select().from(schema.users)
}

export async function identitiesOf(world: World) {
  return world.store.read.select().from(schema.connectionIdentities)
}
