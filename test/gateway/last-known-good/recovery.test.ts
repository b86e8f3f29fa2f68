import { cpSync, copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { servedAt, statusOf, temporaryFolder } from '../../support/fleet.ts'
import { newSecret, secretOf } from '../../support/machines.ts'
import {
  damage,
  DAMAGES,
  fillDisk,
  filesOf,
  restart,
  type KeptState,
  type Restarted,
} from '../../support/kept-files.ts'

const NOW = Math.floor(Date.now() / 1000)
const HOST = 'ada.example'
const REVOKED = { all: NOW, subjects: { eve: NOW + 10 }, sids: {} }

/** ada has been in pass-through, then went live; bob is a bystander. */
const WENT_LIVE: KeptState = {
  tenants: [
    { tenant_id: 'bob', revision: 1 },
    { tenant_id: 'ada', revision: 2, protection: 'pass-through', name: 'before' },
    { tenant_id: 'ada', revision: 3, protection: 'on', name: 'now' },
  ],
  revoked: { ada: REVOKED },
}
const WAS_SUSPENDED: KeptState = {
  tenants: [
    { tenant_id: 'ada', revision: 2 },
    { tenant_id: 'ada', revision: 3, status: 'suspended' },
  ],
}

const FILES = {
  guard: 'guard/ada',
  current: 'tenants/ada.current',
  previous: 'tenants/ada.previous',
  revoked: 'revoked/ada.current',
  revokedCopy: 'revoked/ada.previous',
} as const
type File = keyof typeof FILES

async function afterDamage(
  t: Test,
  state: KeptState,
  files: readonly File[],
  how: (path: string) => void,
): Promise<Restarted> {
  const folder = temporaryFolder(t)
  await fillDisk(folder, state)
  for (const file of files) damage(folder, FILES[file], how)
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  return restarted
}

const isFull = ({ replica }: Restarted) => replica.hello().revision === 0
const problemsOf = ({ lines }: Restarted) =>
  lines.filter(({ level, tenant_id }) => level >= 40 && tenant_id === 'ada')

t.test('a disk that is whole gives back exactly what was written', async (t) => {
  const restarted = await afterDamage(t, WENT_LIVE, [], () => {})
  t.equal(servedAt(restarted.registry, HOST)?.name, 'now')
  t.equal(servedAt(restarted.registry, 'bob.example')?.revision, 1)
  t.same(restarted.registry.byId('ada')?.revoked.whole(), REVOKED)
  t.equal(statusOf(restarted.registry, 'unknown.example'), 404)
  t.same(restarted.replica.hello(), { epoch: 'epoch-1', revision: 3 })
  t.same(
    restarted.lines.filter(({ level }) => level >= 40),
    [],
  )
})

for (const [damageName, how] of Object.entries(DAMAGES)) {
  t.test(
    `when the current snapshot ${damageName}, the generation before it is served, protected`,
    async (t) => {
      const restarted = await afterDamage(t, WENT_LIVE, ['current'], how)
      t.match(servedAt(restarted.registry, HOST), { name: 'before', protection: 'on' })
      t.same(restarted.registry.byId('ada')?.revoked.whole(), REVOKED)
      t.ok(isFull(restarted), 'the lost revision is not claimed')
      t.equal(problemsOf(restarted).length, 1)
      t.equal(servedAt(restarted.registry, 'bob.example')?.revision, 1)
      t.equal(statusOf(restarted.registry, 'unknown.example'), 404)
    },
  )

  t.test(`when the guard ${damageName}, the tenant is served, protected`, async (t) => {
    const passThrough: KeptState = {
      tenants: [{ tenant_id: 'ada', revision: 2, protection: 'pass-through' }],
    }
    const restarted = await afterDamage(t, passThrough, ['guard'], how)
    t.match(servedAt(restarted.registry, HOST), { revision: 2, protection: 'on' })
    t.ok(isFull(restarted))
    t.equal(problemsOf(restarted).length, 1)
  })

  t.test(`when both generations are damaged (${damageName}), the hosts answer 503`, async (t) => {
    const restarted = await afterDamage(t, WENT_LIVE, ['current', 'previous'], how)
    t.equal(statusOf(restarted.registry, HOST), 503)
    t.ok(isFull(restarted))
    t.equal(servedAt(restarted.registry, 'bob.example')?.revision, 1)
    t.equal(statusOf(restarted.registry, 'unknown.example'), 404)
  })

  t.test(
    `when the guard and the current snapshot are damaged (${damageName}), nobody is let through`,
    async (t) => {
      for (const state of [WENT_LIVE, WAS_SUSPENDED]) {
        const restarted = await afterDamage(t, state, ['guard', 'current'], how)
        t.equal(statusOf(restarted.registry, HOST), 503)
        t.equal(statusOf(restarted.registry, 'unknown.example'), 503, 'its hosts may be more')
      }
    },
  )

  t.test(
    `when nothing of a tenant can be read (${damageName}), unknown hosts answer 503`,
    async (t) => {
      const files = ['guard', 'current', 'previous'] as const
      const restarted = await afterDamage(t, WENT_LIVE, files, how)
      t.equal(statusOf(restarted.registry, HOST), 503)
      t.equal(statusOf(restarted.registry, 'unknown.example'), 503)
      t.equal(servedAt(restarted.registry, 'bob.example')?.revision, 1)
    },
  )

  t.test(
    `a suspended tenant stays suspended when its current snapshot ${damageName}`,
    async (t) => {
      const restarted = await afterDamage(t, WAS_SUSPENDED, ['current'], how)
      t.match(servedAt(restarted.registry, HOST), { revision: 2, status: 'suspended' })
    },
  )

  t.test(`revocations survive when one of their copies ${damageName}`, async (t) => {
    for (const copy of ['revoked', 'revokedCopy'] as const) {
      const restarted = await afterDamage(t, WENT_LIVE, [copy], how)
      t.same(restarted.registry.byId('ada')?.revoked.whole(), REVOKED)
      t.equal(statusOf(restarted.registry, HOST), 200)
    }
  })

  t.test(
    `when no copy of the revocations can be read (${damageName}), the tenant answers 503`,
    async (t) => {
      const restarted = await afterDamage(t, WENT_LIVE, ['revoked', 'revokedCopy'], how)
      t.equal(statusOf(restarted.registry, HOST), 503)
      t.equal(statusOf(restarted.registry, 'bob.example'), 200)
      t.equal(statusOf(restarted.registry, 'unknown.example'), 404)
    },
  )

  t.test(`when the position ${damageName}, everything is served and asked for again`, async (t) => {
    const folder = temporaryFolder(t)
    await fillDisk(folder, WENT_LIVE)
    damage(folder, 'position', how)
    const restarted = await restart(folder)
    t.teardown(() => restarted.close())
    t.equal(servedAt(restarted.registry, HOST)?.name, 'now')
    t.ok(isFull(restarted))
    t.equal(statusOf(restarted.registry, 'unknown.example'), 503)
  })
}

t.test('no single damaged file ever weakens a tenant', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  for (const file of filesOf(folder))
    for (const [damageName, how] of Object.entries(DAMAGES)) {
      const copy = `${folder}-copy`
      cpSync(folder, copy, { recursive: true })
      damage(copy, file, how)
      const restarted = await restart(copy)
      const found = restarted.registry.byHost(HOST)
      const isSafe =
        found.kind === 'held' ||
        (found.kind === 'served' &&
          found.served.tenant.snapshot.protection === 'on' &&
          found.served.revoked.subjects.get('eve') === NOW + 10)
      if (!isSafe) t.fail(`${file} ${damageName}`)
      await restarted.close()
      rmSync(copy, { recursive: true })
    }
  t.pass()
})

t.test('a file in another tenant’s place is worth nothing', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  for (const name of ['guard/X', 'tenants/X.current']) {
    const [ada, bob] = ['ada', 'bob'].map((id) => join(folder, name.replace('X', id)))
    renameSync(ada!, `${ada}.swap`)
    renameSync(bob!, ada!)
    renameSync(`${ada}.swap`, bob!)
  }
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  t.equal(statusOf(restarted.registry, HOST), 503)
  t.equal(statusOf(restarted.registry, 'bob.example'), 503)
})

t.test('a file of another kind is worth nothing', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  copyFileSync(join(folder, 'revoked/ada.current'), join(folder, 'tenants/ada.current'))
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  t.match(servedAt(restarted.registry, HOST), { name: 'before', protection: 'on' })
})

t.test('an older generation that is played back is noticed and not trusted', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  copyFileSync(join(folder, FILES.previous), join(folder, FILES.current))
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  t.match(servedAt(restarted.registry, HOST), { name: 'before', protection: 'on' })
  t.ok(isFull(restarted))
  t.match(problemsOf(restarted)[0]?.['problems'], [/protection stays on/, /3 is lost/])
})

t.test('a host that was given up is not served from an older generation', async (t) => {
  const folder = temporaryFolder(t)
  const hosts = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, `https://${name}`]))
  await fillDisk(folder, {
    tenants: [
      { tenant_id: 'ada', revision: 1, edge_urls: hosts('ada.example', 'moved.example') },
      { tenant_id: 'ada', revision: 2, edge_urls: hosts('ada.example') },
    ],
  })
  rmSync(join(folder, FILES.current))
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  t.equal(statusOf(restarted.registry, 'ada.example'), 200)
  t.equal(statusOf(restarted.registry, 'moved.example'), 404)
})

t.test('a secret of a machine that was revoked does not come back to life', async (t) => {
  const secretOfNow = secretOf(newSecret(), NOW + 3600)
  const service = { service_id: 'svc_00000000000000aa', identity: 'a.b.c', secrets: [secretOfNow] }
  const state: KeptState = {
    tenants: [
      { tenant_id: 'ada', revision: 2, services: { services: [service] } },
      { tenant_id: 'ada', revision: 3, services: { services: [{ ...service, secrets: [] }] } },
    ],
  }
  const whole = await afterDamage(t, { tenants: state.tenants.slice(0, 1) }, [], () => {})
  t.not(servedAt(whole.registry, HOST)?.services, undefined)
  for (const how of Object.values(DAMAGES)) {
    const restarted = await afterDamage(t, state, ['current'], how)
    t.equal(servedAt(restarted.registry, HOST)?.revision, 2)
    t.equal(servedAt(restarted.registry, HOST)?.services, undefined)
  }
})

t.test('a generation that was complete but not yet renamed is used', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  renameSync(join(folder, FILES.current), join(folder, 'tenants/ada.next'))
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  t.match(servedAt(restarted.registry, HOST), { name: 'now', protection: 'on' })
})

t.test('a tenant all of whose files are gone is missed', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  for (const file of filesOf(folder)) if (file.includes('ada')) rmSync(join(folder, file))
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  t.equal(statusOf(restarted.registry, HOST), 503)
  t.equal(statusOf(restarted.registry, 'bob.example'), 200)
})

t.test('with another fleet key nothing is served and the cause is named', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  const restarted = await restart(folder, 'another fleet key than before')
  t.teardown(() => restarted.close())
  for (const host of [HOST, 'bob.example', 'unknown.example'])
    t.equal(statusOf(restarted.registry, host), 503)
  t.ok(restarted.lines.some(({ msg }) => msg.includes('SERVICE_FLEET_KEY')))
})

t.test('a folder that cannot be listed lets nobody through', async (t) => {
  for (const name of ['guard', 'tenants', 'revoked']) {
    const folder = temporaryFolder(t)
    await fillDisk(folder, WENT_LIVE)
    rmSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name), 'a file where the folder was')
    const restarted = await restart(folder)
    t.teardown(() => restarted.close())
    const found = servedAt(restarted.registry, HOST)
    t.ok(found === undefined || found.protection === 'on', name)
    t.equal(statusOf(restarted.registry, 'unknown.example'), 503, name)
  }
})

t.test('an empty disk is not a damaged one: not configured yet', async (t) => {
  const restarted = await restart(temporaryFolder(t))
  t.teardown(() => restarted.close())
  t.same(restarted.registry.byHost(HOST), { kind: 'held', reason: 'not_ready' })
  t.equal(restarted.registry.isConfigured(), false)
})

t.test('files that are not ours are left alone', async (t) => {
  const folder = temporaryFolder(t)
  await fillDisk(folder, WENT_LIVE)
  copyFileSync(join(folder, FILES.current), join(folder, 'tenants/.hidden'))
  copyFileSync(join(folder, FILES.current), join(folder, 'tenants/Ada Lovelace.current'))
  const restarted = await restart(folder)
  t.teardown(() => restarted.close())
  t.equal(servedAt(restarted.registry, HOST)?.name, 'now')
  t.same(
    restarted.lines.filter(({ level }) => level >= 40),
    [],
  )
})
