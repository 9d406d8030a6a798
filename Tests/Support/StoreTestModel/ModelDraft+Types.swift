package import ManagedModel

extension ModelDraft {
    package struct Attribute {
        package let tag: Int
        package var name: String
        package var identifier: String?
        package var isOptional = true
        package var type: AttributeType
        /// The tag of the attribute that this attribute is derived from, and the function.
        package internal(set) var source: Int?
        package internal(set) var change = ""

        init(tag: Int, name: String) {
            self.tag = tag
            self.name = name
            type = ModelDraft.types[tag % ModelDraft.types.count]
        }
    }

    package struct Link {
        package let tag: Int
        package var name: String
        package var identifier: String?
        /// The tag of an entity.
        package let destination: Int
        package var isToMany: Bool
        package var isOrdered = false
    }

    package struct Entity {
        package let tag: Int
        package var name: String
        package var identifier: String?
        package var parent: Int?
        package var attributes: [Attribute] = []
        package var links: [Link] = []
    }

    static let types: [AttributeType] = [
        .integer64, .double, .string, .date, .decimal, .integer16, .float, .integer32,
    ]

    static func value(_ type: AttributeType) -> AttributeValue {
        switch type {
        case .string: .string("it's")
        case .date: .date(1)
        case .double, .float: .double(0.5)
        default: .integer(5)
        }
    }

    /// The types that can represent every value of a smaller type.
    static func widerTypes(_ type: AttributeType) -> [AttributeType] {
        switch type {
        case .integer16: [.integer32, .integer64, .decimal, .double, .float]
        case .integer32: [.integer64, .decimal, .double]
        case .integer64: [.decimal, .double]
        case .float: [.double]
        default: []
        }
    }
}
