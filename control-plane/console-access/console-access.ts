/** Everything that decides who may come in to the console, put together. */
import { createConsoleRoles } from './roles.ts'
import { ensureConsoleRealm } from './console-realm.ts'
import { createConsoleSessions } from './console-sessions.ts'
import { createDeviceCodes } from './device-codes.ts'
import { createKeptForms } from './kept-forms.ts'
import { createOperatorLinks } from './operator-links.ts'
import { createConsoleInvitations } from './invitations.ts'
import { createConsolePeople } from './people.ts'
import { createConsolePersons } from './person.ts'
import { createProofs } from './proofs.ts'
import { createSpentForms } from './spent-forms.ts'
import type { ConsoleAccessWorld } from './world.ts'

export function createConsoleAccess(world: ConsoleAccessWorld) {
  const roles = createConsoleRoles(world)
  const sessions = createConsoleSessions(world, roles)
  const spentForms = createSpentForms(world)
  const keptForms = createKeptForms(world)
  const invitations = createConsoleInvitations(world)
  const deviceCodes = createDeviceCodes(world)
  return {
    ensureRealm: () => ensureConsoleRealm(world),
    roles,
    people: createConsolePeople(world),
    persons: createConsolePersons(world, invitations),
    invitations,
    sessions,
    links: createOperatorLinks(world),
    proofs: createProofs(world),
    spentForms,
    keptForms,
    deviceCodes,
    async prune(limit: number): Promise<number> {
      const each = [sessions, spentForms, keptForms, invitations, deviceCodes]
      let most = 0
      for (const one of each) most = Math.max(most, await one.prune(limit))
      return most
    },
  }
}
