/** Access rules of a tenant, and the groups that they speak of. */
export const RULE_LIMITS = {
  rulesPerTenantMax: 2000,
  /** Each hostname that is named has all rules that name none: gateways keep so many in all. */
  rulePlacesMax: 20_000,
  /** A part of what gateways are told of a tenant at once (`snapshotBytesMax`). */
  rulesBytesMax: 256 * 1024,
  ruleClausesMax: 50,
  /** Of those, what whoever is refused is told. */
  ruleWaysToldMax: 50,
  ruleMethodsMax: 20,
  ruleNetworksMax: 50,
  ruleNetworkEntriesMax: 200,
  /** Groups and attributes that rules speak of: each is a bit in every token. */
  ruleSlotsMax: 1024,
  groupsPerTenantMax: 5000,
  /** In one clause, which asks for all of them. */
  ruleAttributesMax: 8,
  attributeNameCharactersMax: 40,
  attributeValueCharactersMax: 200,
  /** Of one person by one source; of an attribute of which a provider says more nothing is added. */
  attributesPerPersonMax: 100,
  attributeValuesMax: 20,
  ruleAgeSecondsMin: 60,
  ruleAgeSecondsMax: 30 * 24 * 3600,
  /** Of what was saved: who could open a path then is told by these. */
  ruleVersionsKeptMax: 100,
  accessContactCharactersMax: 200,
  accessPathAskedMax: 2000,
  /** People at the addresses that they came from, and how many of them are named for each path. */
  replayedVisitorsMax: 20_000,
  replayedPeopleListedMax: 20,
  /** Of all of them, in groups that rules speak of: of more people the first. */
  replayedMembershipsMax: 200_000,
  /** Paths with each method that they are held against. */
  replayedProbesMax: 10_000,
  accessReplayDays: 7,
  /** A token that is younger says what there is to say, and no other is asked for. */
  freshClaimsSecondsMax: 60,
} as const
