/** All that an agent keeps: who it is, its key, and the last link of its chain. Whole or not there. */
import * as v from 'valibot'
import { DEVICE_ID, RANDOM_32 } from '../../../../shared/device/messages.ts'
import { TENANT_ID } from '../../../../shared/fleet/snapshot.ts'
import {
  createPrivateFolder,
  type FileSystem,
  type FolderWords,
} from '../../resident/private-folder.ts'
import { PROXY_CREDENTIAL } from '../../resident/given-proxy.ts'
import { Problem } from '../../command-line/exit.ts'
import { StoredKeySchema } from '../key/device-key.ts'

const url = v.pipe(v.string(), v.url(), v.maxLength(2000))
const random32 = v.pipe(v.string(), v.regex(RANDOM_32))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

const JwksSchema = v.object({
  keys: v.pipe(v.array(v.record(v.string(), v.unknown())), v.maxLength(4)),
})

/** What the service has made of it. */
const STATES = ['fine', 'refused', 'suspect_clone', 'key_lost'] as const
export type DeviceState = (typeof STATES)[number]

const DeviceSchema = v.object({
  version: v.literal(1),
  base_url: url,
  device_id: v.pipe(v.string(), v.regex(DEVICE_ID)),
  tenant_id: v.pipe(v.string(), v.regex(TENANT_ID)),
  origin: url,
  confirm: url,
  challenge_jwks: JwksSchema,
  poll_s: count,
  key: StoredKeySchema,
  /** Of the next check-in. One that was sent is sent again as it stands, until it has an answer. */
  link: v.object({
    prev: random32,
    ctr: count,
    boot_id: v.nullable(random32),
    is_sent: v.boolean(),
    /** Somebody else may have gone on from here: a nonce takes its place. */
    is_lost: v.boolean(),
  }),
  state: v.picklist(STATES),
  /** Of the facts that the service has. */
  posture_hash: v.nullable(random32),
  /** For people; nothing is decided by it. */
  checked_in_at: v.nullable(v.string()),
  /** The service has a newer program. */
  update: v.nullable(v.string()),
})
export type Device = v.InferOutput<typeof DeviceSchema>

/** A key whose enrolment has not been answered: asked again with it, it is the same device. */
const EnrollingSchema = v.object({ version: v.literal(1), key: StoredKeySchema })
type Enrolling = v.InferOutput<typeof EnrollingSchema>

/** What root believes updates by, and what it has asked for last: no business of the listener. */
const UpdatesSchema = v.object({ version: v.literal(1), keys: JwksSchema })
export type Updates = v.InferOutput<typeof UpdatesSchema>

const ListeningSchema = v.object({ version: v.literal(1), port: count, problem: v.string() })
type Listening = v.InferOutput<typeof ListeningSchema>

export const FILES = {
  device: 'device.json',
  enrolling: 'enrolling.json',
  updates: 'updates.json',
  listening: 'listening.json',
} as const
/** Left by one that was killed. */
const SOCKET = 'running.sock'

const WORDS: FolderWords = {
  program: 'the agent',
  exposed: 'revoke this device on the Devices page and enroll again',
  anew: 'enroll again with a new ticket',
}

export type DeviceFolder = ReturnType<typeof createDeviceFolder>

export function createDeviceFolder(
  path: string,
  world: { readonly userId: number | undefined; readonly files?: FileSystem },
) {
  const folder = createPrivateFolder(path, { words: WORDS, ...world })
  const { readAs, writeJson } = folder

  const read = () => readAs(FILES.device, DeviceSchema)

  return {
    path,
    /** null: nobody has enrolled here. */
    read,
    async require(): Promise<Device> {
      const device = await read()
      if (device !== null) return device
      throw new Problem(
        'not_enrolled',
        `No device is enrolled in ${path}.`,
        'Get a ticket from the Devices page of your tenant, then: service-device-agent enroll',
      )
    },
    write: (device: Device): Promise<void> => writeJson(FILES.device, device),

    readEnrolling: () => readAs(FILES.enrolling, EnrollingSchema),
    writeEnrolling: (enrolling: Enrolling): Promise<void> => writeJson(FILES.enrolling, enrolling),
    endEnrolling: (): Promise<void> => folder.removeFile(FILES.enrolling),

    readUpdates: () => readAs(FILES.updates, UpdatesSchema),
    writeUpdates: (updates: Updates): Promise<void> => writeJson(FILES.updates, updates),

    readListening: () => readAs(FILES.listening, ListeningSchema),
    writeListening: (listening: Listening): Promise<void> => writeJson(FILES.listening, listening),

    /** Nothing of the device is left. */
    remove: (): Promise<void> => folder.remove([...Object.values(FILES), PROXY_CREDENTIAL, SOCKET]),
  }
}
