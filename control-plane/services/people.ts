/** People: how they are found and prove who they are, and what they are written. */
import { availableParallelism } from 'node:os'
import { createAccountMail } from '../accounts/account-mail.ts'
import { createAddressBlocks } from '../accounts/address-blocks.ts'
import { createAttempts } from '../accounts/attempts.ts'
import { createBehindAnswers } from '../accounts/behind-answers.ts'
import { createDevices } from '../accounts/devices.ts'
import { createFactors } from '../accounts/factors.ts'
import { noBreachList } from '../accounts/passwords/breach-list.ts'
import { createPasswordHasher, hashesAtOnce } from '../accounts/passwords/hasher.ts'
import { createPasswordRules } from '../accounts/passwords/rules.ts'
import { createStrength } from '../accounts/passwords/strength.ts'
import { createTickets } from '../accounts/tickets.ts'
import { createTrialPeople } from '../accounts/trial-people.ts'
import { createUserNames } from '../accounts/user-names.ts'
import { createUsers } from '../accounts/users.ts'
import { createFairSemaphore } from '../concurrency/fair-semaphore.ts'
import { createMails } from '../mail/mails.ts'
import { createSignInMail } from '../realm/sign-in/sign-in-mail.ts'
import { createSignUpMail } from '../realm/sign-up/sign-up-mail.ts'
import { createRealmClients } from '../realm/clients/realm-clients.ts'
import { createSignUps } from '../realm/sign-up/sign-ups.ts'
import { createAddresses } from '../user-directory/addresses.ts'
import { createUserDirectories } from '../user-directory/user-directories.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import { noTracing } from '../tracing/tracing.ts'
import { timedMail } from './timed-clients.ts'
import type { ServicesWorld } from './world.ts'

export type PeopleServices = ReturnType<typeof createPeople>

export function createPeople(
  world: ServicesWorld,
  { store, vault, policies, tenants, leases }: TenantServices,
  jobs: Jobs,
) {
  const { breaches = noBreachList, baseUrl, clock, log } = world
  const semaphore = createFairSemaphore({ concurrency: hashesAtOnce(availableParallelism()) })
  const passwords = createPasswordHasher({}, semaphore, world.passwordCost)
  const addresses = createAddresses(world.directoryAddresses)
  const directories = createUserDirectories({ store, vault, log, semaphore, addresses })
  const ownStrength = createStrength()
  const { strength = ownStrength } = world
  const passwordRules = createPasswordRules({ store, passwords, strength, breaches })
  const users = createUsers({ store, passwords, passwordRules, policies, clock, directories })
  const tickets = jobs.tidied('tickets', createTickets({ store, vault, clock }))
  const transport = timedMail(world.mailTransport, world.tracing ?? noTracing())
  const { behindAnswer, close: closeBehindAnswers } = createBehindAnswers(world.behindAnswerMs)
  const mails = createMails({ store, vault, transport, clock, log })
  jobs.begins(() => mails.deliver())
  const signUps = jobs.tidied('signUps', createSignUps({ store, tenants, mails, baseUrl }))
  const told = leases.alone('sign-ups', signUps.tellAdministrators)
  jobs.follows(told, 'administrators learn of account requests later')
  return {
    passwords,
    passwordRules,
    directories,
    users,
    userNames: createUserNames({ store }),
    tickets,
    mails,
    behindAnswer,
    closeBehindAnswers,
    signInMail: createSignInMail({ store, tickets, mails, baseUrl }),
    signUpMail: createSignUpMail({ store, tickets, mails, baseUrl }),
    signUps,
    realmClients: jobs.tidied('realmClients', createRealmClients({ store })),
    accountMail: createAccountMail({ store, tickets, mails, users, baseUrl, clock }),
    attempts: jobs.tidied('attempts', createAttempts({ store, vault, clock })),
    addressBlocks: jobs.tidied('addressBlocks', createAddressBlocks({ store, clock })),
    devices: jobs.tidied('devices', createDevices({ store, vault, clock })),
    factors: createFactors({ store, vault }),
    trialPeople: jobs.tidied('trialPeople', createTrialPeople({ store, passwords, clock })),
    async closePasswords() {
      await ownStrength.close()
      await breaches.close()
    },
  }
}
