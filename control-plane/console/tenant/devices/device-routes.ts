/** One device: seen, approved, given to somebody, cleared of a suspicion, revoked, deleted. */
import { NothingBody } from '../../../requests/fields.ts'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import type { DevicePatch, ListedDevice } from '../../../devices/management.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { asking } from '../../asking.ts'
import { formCard } from '../../blocks/form.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import { typedPeople } from '../people/typed-people.ts'
import { devicePage } from './device-page.ts'
import { lookUpOf } from './look-up.ts'
import { apiOf, DEVICE, devicePath, devicesPath } from './paths.ts'
import type { ConsoleWorld } from '../../world.ts'

type DeviceVisit = TenantVisit & { readonly path: { readonly device_id: string } }

const OF_ONE = { role: 'tenant', here: 'devices', needsFreshSignIn: true } as const
/** As it is typed; null: of whoever signs in with it next. */
const OwnerBody = v.strictObject({
  owner: v.nullable(v.pipe(v.string(), v.maxLength(LIMITS.emailCharactersMax))),
})

export function deviceRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { enrolledDevices } = world
  const lookUp = lookUpOf(world)
  const people = typedPeople(world.users)
  const deviceOf = ({ tenant, path }: DeviceVisit): Promise<ListedDevice> =>
    enrolledDevices.find(tenant.tenantId, path.device_id)
  const at = ({ tenant, path }: DeviceVisit) => devicePath(tenant.tenantId, path.device_id)
  const callOf = ({ tenant, path }: DeviceVisit) =>
    `${apiOf(tenant.tenantId, 'devices')}/${path.device_id}`

  async function patched(visit: DeviceVisit, patch: DevicePatch, said: string) {
    const { tenant, path, actor } = visit
    const { enforced } = await enrolledDevices.patch(tenant.tenantId, path.device_id, patch, actor)
    return done(at(visit), said, { enforced })
  }

  async function ownerView(visit: DeviceVisit, attempt?: Attempt): Promise<View> {
    const { hostname, userId } = await deviceOf(visit)
    const [owner = ''] = await people.namesOf(
      visit.tenant.tenantId,
      userId === null ? [] : [userId],
    )
    return {
      title: `Owner of ${hostname}`,
      here: 'devices',
      content: formCard(visit, {
        action: `${at(visit)}/owner`,
        submit: 'Save',
        cancel: at(visit),
        attempt,
        content: textField({
          name: 'owner',
          label: 'Username or email',
          hint: 'Leave it empty to assign the device to whoever signs in with it next.',
          value: owner,
          charactersMax: LIMITS.emailCharactersMax,
          isOptional: true,
          attempt,
        }),
      }),
      calls: [{ method: 'PATCH', path: callOf(visit), body: { owner: userId } }],
    }
  }

  return [
    page({ path: DEVICE, role: 'tenant' }, async (visit) => {
      const device = await deviceOf(visit)
      const { names, judged } = await lookUp(visit.tenant.tenantId, [device], visit.nowMs)
      return devicePage(visit, { device, names, judged: judged?.get(device.deviceId) })
    }),
    action(
      {
        path: `${DEVICE}/approve`,
        role: 'tenant',
        form: {},
        body: NothingBody,
        needsFreshSignIn: true,
      },
      (visit) => patched(visit, { isApproved: true }, 'Device approved.'),
    ),
    action(
      {
        path: `${DEVICE}/unapprove`,
        role: 'tenant',
        form: {},
        body: NothingBody,
        needsFreshSignIn: true,
      },
      (visit) => patched(visit, { isApproved: false }, 'Approval withdrawn.'),
    ),
    page({ path: `${DEVICE}/owner`, role: 'tenant', needsFreshSignIn: true }, (visit) =>
      ownerView(visit),
    ),
    action(
      {
        path: `${DEVICE}/owner`,
        role: 'tenant',
        form: { owner: 'nullable' },
        body: OwnerBody,
        needsFreshSignIn: true,
      },
      async (visit, { owner }) => {
        const { tenantId } = visit.tenant
        const userId = owner === null ? null : await people.idOf(tenantId, owner, 'owner')
        return patched(visit, { userId }, 'Owner changed.')
      },
      ownerView,
    ),
    ...asking(
      { ...OF_ONE, path: `${DEVICE}/clear` },
      async (visit) => {
        const { hostname } = await deviceOf(visit)
        return {
          title: `Clear ${hostname}?`,
          effects: [
            'It counts as an enrolled device again after its next check-in.',
            'Do this only if the device was restored from a backup, or if you know that no other machine has its key.',
            'If another machine uses the key, it is marked as a possible copy again.',
          ],
          submit: 'Clear device',
          cancel: at(visit),
          calls: [{ method: 'PATCH', path: callOf(visit), body: { cleared: true } }],
        }
      },
      (visit) => patched(visit, { isCleared: true }, 'Device cleared.'),
    ),
    ...asking(
      { ...OF_ONE, path: `${DEVICE}/revoke` },
      async (visit) => {
        const { hostname } = await deviceOf(visit)
        return {
          title: `Revoke ${hostname}?`,
          effects: [
            'All sessions started on it end immediately, on every gateway.',
            'Its agent is refused. To use the machine again, enroll it with a new ticket.',
          ],
          submit: 'Revoke device',
          cancel: at(visit),
          calls: [{ method: 'POST', path: `${callOf(visit)}/revoke` }],
        }
      },
      async (visit) => {
        const { tenant, path, actor } = visit
        const { tenantId } = tenant
        const { enforced } = await enrolledDevices.revoke(tenantId, [path.device_id], actor)
        return done(at(visit), 'Device revoked.', { changed: tenantId, enforced })
      },
    ),
    ...asking(
      { ...OF_ONE, path: `${DEVICE}/remove` },
      async (visit) => {
        const { hostname } = await deviceOf(visit)
        return {
          title: `Delete ${hostname}?`,
          effects: [
            'All sessions started on it end immediately, on every gateway, and its agent is refused.',
            'Everything about it is permanently deleted. The audit trail keeps its name.',
          ],
          submit: 'Delete device',
          cancel: at(visit),
          calls: [{ method: 'DELETE', path: callOf(visit) }],
        }
      },
      async (visit) => {
        const { tenant, path, actor } = visit
        const { tenantId } = tenant
        const { enforced } = await enrolledDevices.remove(tenantId, path.device_id, actor)
        return done(devicesPath(tenantId), 'Device deleted.', { changed: tenantId, enforced })
      },
    ),
  ]
}
