import CoreDataSource

enum TaskState: String, AttributeStorable, Codable {
    case open, done
}

/// Its order is not that of its raw values.
enum Priority: Int, AttributeStorable, Codable, Comparable {
    case low = 1
    case high = 2
    case none = 0

    static func < (lhs: Priority, rhs: Priority) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int { self == .none ? 3 : rawValue }
}

enum Work {
    enum Effort: Int16, AttributeStorable, Codable {
        case small = 1
        case large = 100
    }
}

enum Venue: String, AttributeStorable, Codable {
    case office, home
}

struct Labels: OptionSet, Hashable, AttributeStorable, Codable {
    let rawValue: Int32

    static let urgent = Labels(rawValue: 1)
    static let shared = Labels(rawValue: 2)
}
