// What users test their own stores with: both suites are plain lists of cases, for any test runner.
export type { ContractCase, OpenStore } from './testing/contract/contract-case.ts';
export { storeContract } from './testing/contract/store-contract.ts';
export type { OpenFresh, VerbCase } from './testing/verbs/verb-case.ts';
export { verbSuite } from './testing/verbs/verb-suite.ts';
