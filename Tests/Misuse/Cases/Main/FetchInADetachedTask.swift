// error: main actor-isolated instance method 'count(_:where:)' cannot be called from outside of the actor
import CoreDataSource

func count(_ contacts: ContactDataSource) {
    Task.detached { print(try contacts.count(Contact.self)) }
}
