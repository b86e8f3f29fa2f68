/** Of a tenant's people as lists; a part of `LIMITS`, which is what is asked. */
export const PEOPLE_LIMITS = {
  /** Locked accounts that one page tells, and failed sign-ins that it reads to find them. */
  lockedUsersListedMax: 200,
  failuresReadMax: 5000,
  /** Users that one form changes, and that one file brings in. */
  usersChangedAtOnceMax: 100,
  usersImportedAtOnceMax: 2000,
  /** A file of them, as text in a form. */
  userImportBytesMax: 128 * 1024,
  /** Lines of an export that are read in one turn. */
  usersExportedAtOnceMax: 500,
  /** Sessions that one page looks through for a network. */
  sessionsLookedThroughMax: 5000,
  /** Beyond it a question says «more than». */
  sessionsCountedMax: 1000,
  /** People that a search for sessions stands for. */
  peopleMatchedMax: 20,
  // recorded sign-ins
  signInKeptMs: 35 * 24 * 3600 * 1000,
  /** The newest failures of a day that lockout looks at, per account and per address. */
  failuresLookedAtMax: 1000,
  knownAddressesMax: 200,
  devicesListedMax: 100,
  /** Browsers that somebody has signed in with before; one more pushes out the one that was used longest ago. */
  knownDevicesPerPersonMax: 200,
  // sign-in by mail
  /** So long a link and a code are good. */
  signInMailMsMax: 15 * 60 * 1000,
  /** Codes that may be typed for one mail. */
  signInMailGuessesMax: 5,
  /** Mails that one sign-in may ask for, each after twice the wait of the one before. */
  signInMailsPerSignInMax: 5,
  signInMailAgainMsMin: 30_000,
  /** To one address: of an hour, and of a day, however many hours ask. */
  rateSignInMailsOfAddress: { burst: 5, perSecond: 5 / 3600 },
  rateSignInMailsOfAddressADay: { burst: 20, perSecond: 20 / 86_400 },
  /** Of all networks of a site (a /48 of IPv6) together: so many times what one of them may ask for. */
  rateAskedMailsSiteFactor: 2,
  /** That one client asks for, which may be an office; and that a tenant sends. */
  rateSignInMailsOfClient: { burst: 100, perSecond: 1 / 5 },
  rateSignInMailsOfTenant: { burst: 1000, perSecond: 1 },
  // self sign-up; to one address as many mails as to sign in with
  /** Email domains that a tenant opens it for. */
  signUpDomainsMax: 50,
  signUpGroupsMax: 20,
  /** People of a tenant who wait for an administrator, and how long each of them does. */
  signUpsWaitingMax: 500,
  signUpKeptMs: 30 * 24 * 3600 * 1000,
  /** Mails that one client asks for, which may be an office; and that a tenant sends to strangers. */
  rateSignUpMailsOfClient: { burst: 50, perSecond: 1 / 60 },
  rateSignUpMailsOfTenant: { burst: 500, perSecond: 1 / 10 },
  /** Requests and accounts that come of it in a day: from one network, and of a tenant. */
  rateSignUpsOfClientADay: { burst: 50, perSecond: 50 / 86_400 },
  rateSignUpsOfTenantADay: { burst: 500, perSecond: 500 / 86_400 },
  /** Mails to administrators that people wait for them, however many these are. */
  rateSignUpNotices: { burst: 1, perSecond: 1 / 3600 },
} as const
