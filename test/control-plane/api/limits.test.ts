import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { newTenant, startApi } from '../../support/api.ts'

/** N + 1 is refused in bad-input.test.ts. */
void t.test('everything is taken up to its limit', async (t) => {
  const { operator } = await startApi(t)
  const longest = {
    tenant_id: 'a'.repeat(63),
    name: 'x'.repeat(LIMITS.nameCharactersMax),
    hostnames: Array.from(
      { length: LIMITS.hostnamesPerTenantMax },
      (_, index) => `h${index}.example`,
    ),
    sealed: Array.from({ length: LIMITS.pathPrefixesPerTenantMax }, (_, index) => `/p${index}`),
    excluded: ['/' + 'a'.repeat(LIMITS.pathPrefixBytesMax - 1)],
    max_session_seconds: LIMITS.sessionSecondsMax,
    idle_seconds: LIMITS.sessionSecondsMax,
  }
  const created = await operator('POST', '/tenants', newTenant('x', longest))
  t.match(created, { status: 201, body: longest })
  const user = {
    username: 'u'.repeat(LIMITS.usernameCharactersMax),
    email: `${'m'.repeat(LIMITS.emailCharactersMax - '@x.test'.length)}@x.test`,
    name: 'n'.repeat(LIMITS.nameCharactersMax),
    password: 'p'.repeat(LIMITS.passwordBytesMax),
  }
  const path = `/tenants/${longest.tenant_id}/users`
  t.equal((await operator('POST', path, user)).status, 201)
  const shortest = {
    username: 'a',
    email: 'a@b',
    name: 'a',
    password: 'p'.repeat(LIMITS.passwordCharactersMin),
  }
  t.equal((await operator('POST', path, shortest)).status, 201)
  const { password: _, ...rest } = shortest
  const emoji = { ...rest, username: 'b', email: 'b@b', password: '🔑'.repeat(7) }
  t.match(await operator('POST', path, emoji), { status: 400 }, 'characters are counted, not units')
})

void t.test(
  'a snapshot of everything at its limit still fits through the fleet link',
  async (t) => {
    const { operator, services } = await startApi(t)
    const long = (count: number, lead: string) =>
      Array.from({ length: count }, (_, index) =>
        `/${lead}${index}`.padEnd(LIMITS.pathPrefixBytesMax, 'x'),
      )
    await operator(
      'POST',
      '/tenants',
      newTenant('acme', {
        hostnames: Array.from(
          { length: LIMITS.hostnamesPerTenantMax },
          (_, index) =>
            `${`h${index}`.padEnd(60, 'x')}.${'y'.repeat(60)}.${'z'.repeat(60)}.${'w'.repeat(60)}.test`,
        ),
        sealed: long(LIMITS.pathPrefixesPerTenantMax, 's'),
        excluded: long(LIMITS.pathPrefixesPerTenantMax, 'e'),
      }),
    )
    await operator('POST', '/tenants/acme/publish')
    const { snapshot } = (await services.fleetSource.snapshot('acme')) ?? {}
    const bytes = JSON.stringify(snapshot).length
    const certificates = LIMITS.certificateBytesPerTenantMax + LIMITS.hostnamesPerTenantMax * 2048
    t.ok(
      bytes > 200_000 && bytes + certificates < LIMITS.snapshotBytesMax,
      `${bytes} bytes without certificates`,
    )
  },
)
