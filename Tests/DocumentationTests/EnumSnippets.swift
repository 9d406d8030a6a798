public import CoreDataSource

// The enum of an attribute, in the article on data sources.

public enum Rank: Int16, AttributeStorable, Codable {
    case member, officer
}
