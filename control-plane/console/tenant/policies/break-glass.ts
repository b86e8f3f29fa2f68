/** People with emergency access: kept as IDs, written as usernames. */
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { typedPeople } from '../people/typed-people.ts'
import type { WritingWorld } from './policy-form.ts'

interface WithBreakGlass {
  readonly break_glass: readonly string[]
}

export const typedBreakGlass = v.pipe(
  v.array(v.pipe(v.string(), v.trim(), v.maxLength(LIMITS.emailCharactersMax))),
  v.maxLength(LIMITS.deviceBreakGlassMax, `at most ${LIMITS.deviceBreakGlassMax} people`),
)

export const writtenBreakGlass = {
  async shown<Settings extends WithBreakGlass>(
    { users, tenantId }: WritingWorld,
    settings: Settings,
  ): Promise<Settings> {
    const names = await typedPeople(users).namesOf(tenantId, settings.break_glass)
    return { ...settings, break_glass: names }
  },
  async kept<Settings extends WithBreakGlass>(
    { users, tenantId }: WritingWorld,
    settings: Settings,
    { break_glass: known }: WithBreakGlass,
  ): Promise<Settings> {
    const { break_glass: typed } = settings
    const people = await typedPeople(users).idsOf(tenantId, typed, 'break_glass', known)
    return { ...settings, break_glass: people }
  },
}
