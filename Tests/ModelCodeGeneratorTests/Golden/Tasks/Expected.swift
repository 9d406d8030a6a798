// Made by model-codegen from the model Tasks. Change the model, not this file.
// swift-format-ignore-file

public import CoreDataSource

/// The entity `TaskEntity`.
nonisolated public class TaskEntity: ManagedObject {
    public override class var entityName: String { "TaskEntity" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \TaskEntity.effort: "effort", \TaskEntity.estimate: "estimate", \TaskEntity.labels: "labels",
            \TaskEntity.minutes: "minutes", \TaskEntity.origin: "origin", \TaskEntity.priority: "priority",
            \TaskEntity.state: "state", \TaskEntity.uid: "uid", \TaskEntity.urgency: "urgency", \TaskEntity.venue: "venue",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "TaskEntity" else { return nil }
        return [
            "effort", "estimate", "labels", "minutes", "origin", "priority", "state", "uid", "urgency", "venue",
        ]
    }

    public final var effort: Work.Effort? { get { attribute(at: 0) } set { setAttribute(newValue.map { $0.rawValue as Int16 }, at: 0) } }
    public final var estimate: Int? { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
    public final var labels: Labels { get { attribute(at: 2) } set { setAttribute(newValue.rawValue as Int32, at: 2) } }
    public final var minutes: Int { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    public final var origin: Origin? { get { Origin.read(from: self, at: 4) } set { editTogether { Origin.write(newValue, to: self, at: 4) } } }
    public final var priority: Priority { get { attribute(at: 7) } set { setAttribute(.init(truncatingIfNeeded: newValue.rawValue) as Int64, at: 7) } }
    public final var state: TaskState { get { attribute(at: 8) } set { setAttribute(newValue.rawValue as String, at: 8) } }
    public final var uid: String { get { attribute(at: 9) } set { setAttribute(newValue, at: 9) } }
    public final var urgency: Priority? { get { attribute(at: 10) } set { setAttribute(newValue.map { .init(truncatingIfNeeded: $0.rawValue) as Int64 }, at: 10) } }
    public final var venue: Venue? { get { attribute(at: 11) } set { setAttribute(newValue.map { $0.rawValue as String }, at: 11) } }
}

/// The composite `Origin`.
nonisolated public struct Origin: CompositeValue, Sendable, Hashable {
    public var cost: Int
    public var venue: Venue
    public var detour: Venue?

    public init(cost: Int, venue: Venue, detour: Venue? = nil) {
        self.cost = cost
        self.venue = venue
        self.detour = detour
    }
}

nonisolated extension Origin {
    public static var partKeyPaths: [AnyKeyPath: String] {
        var paths: [AnyKeyPath: String] = [:]
        paths[\Origin.cost] = "cost"
        paths[\Origin.venue] = "venue"
        paths[\Origin.detour] = "detour"
        paths[\Origin?.?.cost] = "cost"
        paths[\Origin?.?.venue] = "venue"
        paths[\Origin?.?.detour] = "detour"
        return paths
    }

    /// The value, or nil if every leaf is nil.
    fileprivate static func read(from object: ManagedObject, at column: Int) -> Origin? {
        isAbsent(from: object, at: column) ? nil : Origin(reading: object, at: column)
    }

    fileprivate init(reading object: ManagedObject, at column: Int) {
        self.cost = object.attribute(at: column)
        self.venue = object.attribute(at: column + 1)
        self.detour = object.attribute(at: column + 2)
    }

    fileprivate static func isAbsent(from object: ManagedObject, at column: Int) -> Bool {
        guard (object.attribute(at: column) as Int?) == nil else { return false }
        guard (object.attribute(at: column + 1) as Venue?) == nil else { return false }
        guard (object.attribute(at: column + 2) as Venue?) == nil else { return false }
        return true
    }

    fileprivate static func write(_ value: Origin?, to object: ManagedObject, at column: Int) {
        object.setAttribute(value?.cost, at: column)
        object.setAttribute((value?.venue).map { $0.rawValue as String }, at: column + 1)
        object.setAttribute((value?.detour).map { $0.rawValue as String }, at: column + 2)
    }
}

nonisolated extension ManagedObjectModel {
    /// The model `Tasks` in its version `Tasks`.
    public static let tasks = ManagedObjectModel(
        name: "Tasks",
        entities: [TasksEntities.taskEntity()],
        composites: [
            CompositeDescription(
                name: "Origin",
                attributes: [
                    AttributeDescription(name: "cost", type: .integer64, defaultValue: .integer(0), usesScalarValueType: true, userInfo: ["swiftType": "Int"]),
                    AttributeDescription(name: "venue", type: .string, defaultValue: .string("office"), userInfo: ["swiftType": "Venue"]),
                    AttributeDescription(name: "detour", type: .string, isOptional: true, userInfo: ["swiftType": "Venue"]),
                ]),
        ],
        classes: tasksClasses())
}

/// Lets the library find the model `Tasks` by its name.
nonisolated final class GeneratedModel_Tasks: GeneratedModel {
    static var model: ManagedObjectModel { .tasks }
}

/// The class of each entity of `Tasks`.
nonisolated private func tasksClasses() -> [String: any AnyObject.Type] {
    ["TaskEntity": TaskEntity.self]
}

/// The entities of `Tasks`, a function for each.
nonisolated private enum TasksEntities {
    static func taskEntity() -> EntityDescription {
        EntityDescription(
            name: "TaskEntity",
            className: "TaskEntity",
            attributes: [
                AttributeDescription(name: "effort", type: .integer16, isOptional: true, userInfo: ["swiftType": "Work.Effort"]),
                AttributeDescription(name: "estimate", type: .integer64, isOptional: true, userInfo: ["swiftType": "Int"]),
                AttributeDescription(name: "labels", type: .integer32, defaultValue: .integer(0), usesScalarValueType: true, userInfo: ["swiftType": "Labels"]),
                AttributeDescription(name: "minutes", type: .integer64, defaultValue: .integer(0), usesScalarValueType: true, userInfo: ["swiftType": "Int"]),
                AttributeDescription(name: "origin", type: .composite, isOptional: true, compositeName: "Origin"),
                AttributeDescription(name: "priority", type: .integer64, defaultValue: .integer(2), usesScalarValueType: true, userInfo: ["swiftType": "Priority"]),
                AttributeDescription(name: "state", type: .string, defaultValue: .string("open"), userInfo: ["swiftType": "TaskState"]),
                AttributeDescription(name: "uid", type: .string),
                AttributeDescription(name: "urgency", type: .integer64, isOptional: true, usesScalarValueType: true, userInfo: ["swiftType": "Priority"]),
                AttributeDescription(name: "venue", type: .string, isOptional: true, userInfo: ["swiftType": "Venue"]),
            ],
            uniquenessConstraints: [["uid"]],
            codeGeneration: .class)
    }
}
