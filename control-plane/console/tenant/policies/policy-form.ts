/** What each of the six forms is. */
import type * as v from 'valibot'
import type { Users } from '../../../accounts/users.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import type { Html } from '../../../pages/html.ts'
import type { Policies, PolicyName } from '../../../policy/policies.ts'
import type { FormShape } from '../../form-values.ts'

export interface WritingWorld {
  readonly tenantId: string
  readonly users: Pick<Users, 'find' | 'byLogin'>
}

export interface PolicyForm<Name extends PolicyName = PolicyName> {
  readonly title: string
  /** What it decides, in a sentence. */
  readonly about: string
  /** What a replay of sign-ins cannot show. */
  readonly besides: string
  readonly shape: FormShape
  /** What each field must be; whole, since what the form leaves empty has a meaning of its own. */
  readonly entries: {
    readonly [Field in keyof Policies[Name]]: v.GenericSchema<unknown, Policies[Name][Field]>
  }
  /** What is shown is written otherwise than it is kept. */
  readonly written?: {
    readonly shown: (world: WritingWorld, settings: Policies[Name]) => Promise<Policies[Name]>
    readonly kept: (
      world: WritingWorld,
      settings: Policies[Name],
      current: Policies[Name],
    ) => Promise<Policies[Name]>
  }
  readonly fields: (settings: Policies[Name], attempt?: Attempt) => Html
}
