package enum ArithmeticOperator: String, Sendable, Hashable, Codable, CaseIterable {
    case add, subtract, multiply, divide, remainder, power
    // For the bits of integers. `shiftRight` keeps the sign.
    case bitwiseAnd, bitwiseOr, bitwiseXor, shiftLeft, shiftRight

    /// Whether it combines integers bit by bit.
    package var isBitwise: Bool {
        switch self {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: true
        case .add, .subtract, .multiply, .divide, .remainder, .power: false
        }
    }
}
