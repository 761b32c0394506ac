/** A verb without its first parameter: the branch that a branch fills in. */
export type PointFixed<Verb> = Verb extends (branch: never, ...rest: infer Rest) => infer Result
  ? (...rest: Rest) => Result
  : never;

/** A verb whose options lack one field: the one that a branch fills in. */
export type OptionFixed<Verb, Field extends string> = Verb extends (...given: infer Given) => infer Result
  ? (...given: FieldFixed<Given, Field>) => Result
  : never;

/** The parameters of a verb, with one field left out of its options. */
export type FieldFixed<Given extends readonly unknown[], Field extends string> = {
  [Index in keyof Given]: Field extends keyof NonNullable<Given[Index]>
    ? Omit<NonNullable<Given[Index]>, Field>
    : Given[Index];
};
