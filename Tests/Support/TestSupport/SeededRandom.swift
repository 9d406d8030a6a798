/// Random numbers that are determined by a seed (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to but not including the bound.
    package mutating func next(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Another sequence, determined by this sequence's state and the number.
    package func branch(_ number: UInt64) -> SeededRandom {
        var mixed = SeededRandom(seed: state ^ (number &* 0xD134_2543_DE82_EF95))
        return SeededRandom(seed: mixed.next())
    }
}
