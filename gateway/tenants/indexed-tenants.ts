/**
 * Tenants of which this process knows no more than that they are there, and their hosts: a hundred
 * thousand of them are ten megabytes of bytes, where objects were sixty that each collection of
 * garbage had to walk through.
 *
 * A record is `sync`, `revision`, the id, and each host behind the way back to its record. Keys (ids
 * and hosts) are a byte of length and ASCII.
 */
import { randomBytes } from 'node:crypto'
import type { SyncedRevision } from './synced-revision.ts'

/** `sync` and `revision`, as doubles. */
const HEAD_BYTES = 16
const HOSTS_COUNT_BYTES = 2
const WAY_BACK_BYTES = 4
const BYTES_MIN = 1 << 12
const SLOTS_MIN = 1 << 8
const FREE = 0
const DELETED = -1

export class IndexedTenants {
  #bytes = Buffer.alloc(BYTES_MIN)
  #length = 0
  /** Of records that have gone. */
  #goneBytes = 0
  #ids = new KeyTable()
  #hosts = new KeyTable()

  get size(): number {
    return this.#ids.size
  }

  syncedOf(tenantId: string): SyncedRevision | undefined {
    const id = this.#ids.find(this.#bytes, tenantId)
    return id === undefined ? undefined : this.#syncedAt(id - HEAD_BYTES)
  }

  /** Whose host it is; undefined: none of these. Runs for each request to a host that is not served. */
  tenantAt(host: string): string | undefined {
    const record = this.#recordAt(host)
    return record === undefined ? undefined : textAt(this.#bytes, record + HEAD_BYTES)
  }

  /** Of the tenant whose host it is. */
  syncedAt(host: string): SyncedRevision | undefined {
    const record = this.#recordAt(host)
    return record === undefined ? undefined : this.#syncedAt(record)
  }

  /** One that is not here, with hosts that no other one here has. */
  add(tenantId: string, given: readonly string[], synced: SyncedRevision): void {
    const hostnames = given.length > 1 ? [...new Set(given)] : given
    const hostBytes = hostnames.reduce((sum, host) => sum + WAY_BACK_BYTES + 1 + host.length, 0)
    const record = this.#room(HEAD_BYTES + 1 + tenantId.length + HOSTS_COUNT_BYTES + hostBytes)
    const bytes = this.#bytes
    bytes.writeDoubleLE(synced.sync, record)
    bytes.writeDoubleLE(synced.revision, record + 8)
    let at = writeKey(bytes, record + HEAD_BYTES, tenantId)
    this.#ids.add(bytes, record + HEAD_BYTES)
    at = bytes.writeUInt16LE(hostnames.length, at)
    for (const host of hostnames) {
      const key = bytes.writeUInt32LE(record, at)
      at = writeKey(bytes, key, host)
      this.#hosts.add(bytes, key)
    }
  }

  delete(tenantId: string): void {
    const id = this.#ids.find(this.#bytes, tenantId)
    if (id === undefined) return
    this.#ids.delete(this.#bytes, tenantId)
    for (const key of this.#hostKeysOf(id)) {
      const host = textAt(this.#bytes, key)
      if (this.#hosts.find(this.#bytes, host) === key) this.#hosts.delete(this.#bytes, host)
    }
    this.#goneBytes += this.#endOf(id) - (id - HEAD_BYTES)
  }

  /** It is another one's, and stays away from this one when that has given it up. */
  dropHost(host: string): void {
    this.#hosts.delete(this.#bytes, host)
  }

  #recordAt(host: string): number | undefined {
    const key = this.#hosts.find(this.#bytes, host)
    return key === undefined ? undefined : this.#bytes.readUInt32LE(key - WAY_BACK_BYTES)
  }

  #syncedAt(record: number): SyncedRevision {
    const [sync, revision] = [
      this.#bytes.readDoubleLE(record),
      this.#bytes.readDoubleLE(record + 8),
    ]
    return { sync, revision }
  }

  #hostKeysOf(id: number): number[] {
    const keys: number[] = []
    let at = endOfKey(this.#bytes, id)
    let left = this.#bytes.readUInt16LE(at)
    for (at += HOSTS_COUNT_BYTES; left > 0; left -= 1) {
      keys.push(at + WAY_BACK_BYTES)
      at = endOfKey(this.#bytes, at + WAY_BACK_BYTES)
    }
    return keys
  }

  #endOf(id: number): number {
    const last = this.#hostKeysOf(id).at(-1)
    return last === undefined
      ? endOfKey(this.#bytes, id) + HOSTS_COUNT_BYTES
      : endOfKey(this.#bytes, last)
  }

  /** Where a record of so many bytes is written. */
  #room(bytes: number): number {
    if (this.#length + bytes > this.#bytes.length) {
      if (this.#goneBytes * 2 > this.#length) this.#dropGone()
      this.#makeRoom(bytes)
    }
    const record = this.#length
    this.#length += bytes
    return record
  }

  /** For so many, and half as many again as there are. */
  #makeRoom(needed: number): void {
    const wider = Buffer.alloc(Math.ceil(this.#length * 1.5) + needed)
    this.#bytes.copy(wider, 0, 0, this.#length)
    this.#bytes = wider
  }

  #dropGone(): void {
    const [from, end] = [this.#bytes, this.#length]
    const to = Buffer.alloc(Math.max(BYTES_MIN, end - this.#goneBytes))
    const [ids, hosts] = [new KeyTable(this.#ids.size), new KeyTable(this.#hosts.size)]
    let length = 0
    for (let record = 0; record < end;) {
      const id = record + HEAD_BYTES
      const next = this.#endOf(id)
      if (this.#ids.find(from, textAt(from, id)) === id) {
        const moved = length - record
        from.copy(to, length, record, next)
        ids.add(to, id + moved)
        for (const key of this.#hostKeysOf(id)) {
          to.writeUInt32LE(length, key + moved - WAY_BACK_BYTES)
          if (this.#hosts.find(from, textAt(from, key)) === key) hosts.add(to, key + moved)
        }
        length += next - record
      }
      record = next
    }
    this.#bytes = to
    this.#length = length
    this.#goneBytes = 0
    this.#ids = ids
    this.#hosts = hosts
  }
}

/** Hash of what others choose: under a secret of this process nobody can make many of them alike. */
const SEED = randomBytes(4).readInt32LE()

/** Places in the bytes, found by the key that stands there: open addressing, half empty at least. */
class KeyTable {
  size = 0
  #slots: Int32Array
  /** With those deleted. */
  #taken = 0

  constructor(expected = 0) {
    this.#slots = new Int32Array(slotsFor(expected))
  }

  find(bytes: Buffer, key: string): number | undefined {
    const slot = this.#slotOf(bytes, key)
    return slot === undefined ? undefined : this.#slots[slot]! - 1
  }

  /** One that is not there yet. */
  add(bytes: Buffer, key: number): void {
    if ((this.#taken + 1) * 2 > this.#slots.length) this.#grow(bytes)
    this.#put(bytes, key)
    this.size += 1
    this.#taken += 1
  }

  delete(bytes: Buffer, key: string): void {
    const slot = this.#slotOf(bytes, key)
    if (slot === undefined) return
    this.#slots[slot] = DELETED
    this.size -= 1
  }

  #slotOf(bytes: Buffer, key: string): number | undefined {
    const mask = this.#slots.length - 1
    let hash = SEED
    for (let at = 0; at < key.length; at += 1) hash = mixed(hash, key.charCodeAt(at))
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const place = this.#slots[slot]!
      if (place === FREE) return undefined
      if (place !== DELETED && isAt(bytes, place - 1, key)) return slot
    }
  }

  #put(bytes: Buffer, key: number): void {
    const mask = this.#slots.length - 1
    const end = endOfKey(bytes, key)
    let hash = SEED
    for (let at = key + 1; at < end; at += 1) hash = mixed(hash, bytes[at]!)
    let slot = spread(hash) & mask
    while (this.#slots[slot] !== FREE) slot = (slot + 1) & mask
    this.#slots[slot] = key + 1
  }

  #grow(bytes: Buffer): void {
    const before = this.#slots
    this.#slots = new Int32Array(slotsFor(this.size + 1))
    this.#taken = this.size
    for (const place of before) if (place > FREE) this.#put(bytes, place - 1)
  }
}

function slotsFor(keys: number): number {
  return Math.max(SLOTS_MIN, 2 ** Math.ceil(Math.log2(keys * 2.5 + 1)))
}

function mixed(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}

function writeKey(bytes: Buffer, at: number, key: string): number {
  bytes[at] = key.length
  for (let index = 0; index < key.length; index += 1) bytes[at + 1 + index] = key.charCodeAt(index)
  return at + 1 + key.length
}

function endOfKey(bytes: Buffer, key: number): number {
  return key + 1 + bytes[key]!
}

function textAt(bytes: Buffer, key: number): string {
  return bytes.toString('latin1', key + 1, endOfKey(bytes, key))
}

function isAt(bytes: Buffer, key: number, text: string): boolean {
  if (bytes[key] !== text.length) return false
  for (let at = 0; at < text.length; at += 1)
    if (bytes[key + 1 + at] !== text.charCodeAt(at)) return false
  return true
}
