// The types that the author of the model writes.
public import CoreDataSource

public enum TaskState: String, AttributeStorable {
    case open, done
}

public enum Priority: Int, AttributeStorable {
    case low = 1
    case high
}

public enum Work {
    public enum Effort: Int16, AttributeStorable {
        case small = 1
        case large = 100
    }
}

public enum Venue: String, AttributeStorable {
    case office, home
}

public struct Labels: OptionSet, Hashable, AttributeStorable {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}
