/** All that a connector keeps: its key, who it is, and the last list of gateways that it was given. */
import * as v from 'valibot'
import { TENANT_ID } from '../../../../shared/fleet/snapshot.ts'
import { Problem } from '../../command-line/exit.ts'
import { openKey, StoredKeySchema } from './own-keys.ts'
import {
  createPrivateFolder,
  type FileSystem,
  type FolderWords,
} from '../../resident/private-folder.ts'

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,100}$/))
const url = v.pipe(v.string(), v.url(), v.maxLength(2000))

const authorityKey = v.pipe(v.string(), v.regex(/^[\w-]{43}$/))

const JoinedSchema = v.object({
  version: v.literal(1),
  base_url: url,
  origin: url,
  /** Its authorities, PEM; without it those that Node trusts. */
  origin_ca: v.optional(v.string()),
  tenant_id: v.pipe(v.string(), v.regex(TENANT_ID)),
  connector_id: id,
  name: v.string(),
  /** The public key that lists of gateways are signed with, 32 bytes in base64url. */
  authority: authorityKey,
  /** The one that is to take its place. */
  next_authority: v.optional(authorityKey),
  key: v.object({ ...StoredKeySchema.entries, key_id: id }),
  /** Of a rotation: on the disk before anybody hears of it, without an id until it has one. */
  next_key: v.optional(v.object({ ...StoredKeySchema.entries, key_id: v.optional(id) })),
})
export type Joined = v.InferOutput<typeof JoinedSchema>
export type IdentifiedKey = Joined['key']

/** A key whose join has not been answered: asked again with it, it is the same connector. */
const JoiningSchema = v.object({ version: v.literal(1), key: StoredKeySchema })
type Joining = v.InferOutput<typeof JoiningSchema>

const FILES = {
  joined: 'connector.json',
  joining: 'joining.json',
  list: 'gateways.jws',
  local: 'local.json',
} as const
/** Where the one that runs answers programs on this machine; null: nowhere. */
const LocalSchema = v.object({ version: v.literal(1), port: v.nullable(v.number()) })

/** Left by one that was killed. */
const SOCKET = 'running.sock'

const WORDS: FolderWords = {
  program: 'the connector',
  exposed: 'revoke this connector on the Connectors page and join again',
  anew: 'join again with a new token',
}

export type StateFolder = ReturnType<typeof createStateFolder>

export function createStateFolder(
  path: string,
  world: { readonly userId: number | undefined; readonly files?: FileSystem },
) {
  const folder = createPrivateFolder(path, { words: WORDS, ...world })
  const { readAs, writeJson } = folder

  /** null: nobody has joined here. */
  const read = (): Promise<Joined | null> =>
    readAs(FILES.joined, JoinedSchema, ({ key, next_key: next }) => {
      openKey(key)
      if (next !== undefined) openKey(next)
    })

  return {
    path,
    read,
    async require(): Promise<Joined> {
      const joined = await read()
      if (joined !== null) return joined
      throw new Problem(
        'not_joined',
        `No connector has joined in ${path}.`,
        'Make a join token on the Connectors page of your tenant, then: service-connector join --origin http://127.0.0.1:3000',
        'If it has joined in another folder, name it with --state.',
      )
    },
    write: (joined: Joined): Promise<void> => writeJson(FILES.joined, joined),

    readJoining: (): Promise<Joining | null> =>
      readAs(FILES.joining, JoiningSchema, ({ key }) => void openKey(key)),
    writeJoining: (joining: Joining): Promise<void> => writeJson(FILES.joining, joining),
    endJoining: (): Promise<void> => folder.removeFile(FILES.joining),

    /** As it was signed; null: there is none. */
    readList: (): Promise<string | null> => folder.read(FILES.list),
    writeList: (document: string): Promise<void> => folder.write(FILES.list, document),

    /** Undefined: none has run here. */
    readLocalPort: async (): Promise<number | null | undefined> =>
      (await readAs(FILES.local, LocalSchema))?.port,
    writeLocalPort: (port: number | null): Promise<void> =>
      writeJson(FILES.local, { version: 1, port }),

    /** Nothing of the connector is left. */
    remove: (): Promise<void> => folder.remove([...Object.values(FILES), SOCKET]),
  }
}
