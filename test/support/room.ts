/** What the files of a room share while `test/runner/room.ts` has them in one process. */
const ROOM = Symbol.for('test files')

interface Room {
  afterAll(work: () => Promise<void>): void
}

/** Whether there is a room, which then does it behind its last file. */
export function afterRoom(work: () => Promise<void>): boolean {
  const room = Reflect.get(globalThis, ROOM) as Room | undefined
  room?.afterAll(work)
  return room !== undefined
}
